//! Week 4, day 7, task 3: weights from a slow device.

use tiny_llm::week4::streamed::{storage::Counts, store::split_row};

use super::*;

const ASKED_ONCE: &str = "\n  diagnosis You ask the device once. Ask again until `out` is full: \
    each call may return fewer bytes than requested.";

/// Reads each part in two pieces, from a device that returns one, three or all bytes at a time.
#[test]
pub(super) fn task_3_read_handles_short_reads() {
    let (file, shape) = (file(), shape());
    for at_once in [1, 3, usize::MAX] {
        let asked = RefCell::default();
        let mut store = Store::open(Device { at_once, ..Device::new(&file, &asked) })
            .expect("Store::open must accept this file");
        let mut expected = Counts::default();
        for part in Component::ALL {
            let (rows, _) = shape.size(part);
            let row_bytes = shape.row_bytes(part);
            let middle = rows / 2;
            for rows in [0..middle, middle..rows] {
                let mut out = vec![0xee; rows.len() * row_bytes];
                if out.is_empty() {
                    continue;
                }
                let call = format!("read({part:?}, {}, {} bytes)", rows.start, out.len());
                let given = if at_once == usize::MAX {
                    "everything at once".into()
                } else {
                    format!("{at_once} at a time")
                };
                let call = format!("{call} from a device that returns {given}");
                let done = check::assert_accepts(&call, || store.read(part, rows.start, &mut out));
                assert_done(&call, done);
                let at = shape.place(part, rows.start) as usize;
                if let Some(i) = out.iter().zip(&file[at..]).position(|(a, b)| a != b) {
                    let untouched = out[i..].iter().all(|&byte| byte == 0xee);
                    let diagnosis = if untouched && i == at_once { ASKED_ONCE } else { "" };
                    let (found, expected) = (out[i], file[at + i]);
                    panic!("{call}: byte {i} is {found}, expected {expected}{diagnosis}");
                }
                expected.reads += 1;
                expected.bytes += out.len() as u64;
                check::assert_answer(&format!("counts after {call}"), &store.counts(), &expected);
            }
        }
    }
}

/// A seek is a read that does not begin where the previous one ended.
#[test]
fn task_3_seeks_are_counted() {
    let file = file();
    let mut store = open(&file);
    let row = shape().row_bytes(Component::Embedding);
    let mut seeks = Vec::new();
    let mut read = |part, first: usize, rows: usize| {
        let mut out = vec![0; rows * row];
        store.read(part, first, &mut out).expect("read must succeed");
        seeks.push(store.counts().seeks);
    };
    // The first row comes right after the header, which has just been read.
    read(Component::Embedding, 0, 1);
    read(Component::Embedding, 1, 2);
    read(Component::Embedding, 1, 2);
    read(Component::Embedding, 3, 1);
    read(Component::Embedding, 5, 1);
    read(Component::Head, 0, 2);
    read(Component::Head, 2, 1);
    check::assert_answer(
        "seeks after rows 0, 1–2, 1–2, 3, 5 of the embedding, 0–1 and 2 of the head",
        &seeks,
        &vec![0, 0, 1, 1, 2, 3, 3],
    );
}

/// The device fails, or the file ends. The error names the part that was to be read, and the
/// position.
#[test]
fn task_3_read_error_names_the_part_and_position() {
    let (file, shape) = (file(), shape());
    let part = Component::Gate;
    let (at, row) = (shape.place(part, 3), shape.row_bytes(part));
    for (then, code) in [(Ok(0), None), (Err(5), Some(5))] {
        for got in [0, 1, row, 2 * row - 1] {
            let asked = RefCell::default();
            let device =
                Device { good: at as usize + got, then, at_once: 10, ..Device::new(&file, &asked) };
            let mut store = Store::open(device).expect("Store::open must accept this file");
            let mut out = vec![0; 2 * row];
            let call = format!(
                "read of {} bytes from a device that returns {then:?} after {got}",
                out.len()
            );
            let found = check::assert_refuses(&call, || store.read(part, 3, &mut out));
            let expected = Error::Read { part: part.name(), at, wanted: 2 * row, got, code };
            check::assert_answer(&call, &found, &Err(expected));
            // A product returns the same error.
            let x = vec![1; shape.hidden];
            let (mut chunk, mut out) = (vec![0; 2 * row], [0.0; 2]);
            let x = Activations { values: &x, scale: 1.0 };
            let found =
                check::assert_refuses(&call, || store.product(part, 3..5, x, &mut chunk, &mut out));
            check::assert_answer(&format!("product: {call}"), &found, &Err(expected));
        }
    }
    let mut store = open(&file);
    let mut out = vec![0; 2 * row];
    let last = shape.intermediate - 1;
    check::assert_panics("read of two rows, starting at the last one", || {
        store.read(part, last, &mut out)
    });
    check::assert_panics("read of a row and one byte, starting at the last row", || {
        store.read(part, last, &mut out[..row + 1])
    });
}

/// Checks that `Store::open` refuses a file with an error that contains `words`.
#[track_caller]
fn refuses(what: &str, file: &[u8], words: &str) {
    let Err(error) = Store::open(file) else {
        panic!("Store::open of a file with {what}: accepted, expected an error")
    };
    assert!(
        error.to_string().contains(words),
        "Store::open of a file with {what}: the error {error:?} does not contain {words:?}"
    );
}

/// Empty, truncated and changed files are refused before a row is read.
#[test]
fn task_3_open_rejects_invalid_files() {
    let good = file();
    let mut row = vec![0; shape().row_bytes(Component::Embedding)];
    check::assert_accepts("the first row", || open(&good).read(Component::Embedding, 0, &mut row))
        .expect("the first row must be readable");
    let with = |at: usize, byte: u8| {
        let mut file = good.clone();
        file[at] = byte;
        file
    };
    for (what, file, words) in [
        (
            "no bytes",
            Vec::new(),
            "the header, byte 0 of the file: found the end after 0 bytes, expected 64",
        ),
        ("half a header", good[..40].to_vec(), "found the end after 40 bytes"),
        ("its last byte missing", good[..good.len() - 1].to_vec(), "bytes of the file: found"),
        ("an extra byte", [&good[..], &[0]].concat(), "bytes of the file: found"),
        ("other first bytes", with(0, b'G'), "the first eight bytes"),
        ("version 2", with(8, 2), "version: found 2, expected 1"),
        ("another hidden size", with(20, 25), "checksum of the header"),
        ("another epsilon", with(44, 1), "checksum of the header"),
    ] {
        refuses(what, &file, words);
    }
    // Complete headers with a shape that no model has.
    let s = shape();
    for (what, shape, words) in [
        ("no tokens", Shape { tokens: 0, ..s }, "tokens: found 0, expected 1"),
        ("more tokens than rows", Shape { tokens: 301, ..s }, "tokens: found 301, expected 300"),
        ("heads that do not divide evenly", Shape { heads: 3, ..s }, "key/value heads: found 1"),
        ("an odd head size", Shape { head_dim: 7, ..s }, "remainder of head size / 2: found 1"),
        ("2^21 positions", Shape { positions: 1 << 21, ..s }, "positions: found 2097152"),
        ("a larger hidden size", Shape { hidden: 48, ..s }, "bytes of the file"),
    ] {
        let mut file = good.clone();
        file[..HEADER].copy_from_slice(&shape.header());
        refuses(what, &file, words);
    }
}

#[test]
pub(super) fn task_3_product_is_independent_of_the_chunk_size() {
    check::resting_on(&[INT8], || {
        let (file, fixtures) = (file(), fixtures());
        let case = fixtures.case("task_3_product/rows");
        let x = case.numbers("x");
        let mut steps = vec![0; x.len()];
        let x = Activations::of(&x, &mut steps);
        let (rows, row) = (shape().intermediate, shape().row_bytes(Component::Gate));
        let mut first: Option<Vec<f32>> = None;
        for (at_once, rest) in [(7, row - 1), (rows, 0), (1, 0), (64, 1), (149, 0), (1000, 3)] {
            let asked = RefCell::default();
            let mut store =
                Store::open(Device::new(&file, &asked)).expect("Store::open must accept this file");
            asked.borrow_mut().clear();
            let mut chunk = vec![0xee; at_once * row + rest];
            let mut out = vec![f32::NAN; rows];
            let call =
                format!("product of {rows} rows, {at_once} at a time in {} bytes", chunk.len());
            let done = check::assert_accepts(&call, || {
                store.product(Component::Gate, 0..rows, x, &mut chunk, &mut out)
            });
            assert_done(&call, done);
            case.check("output", &tensor(&[rows], out.clone()));
            let first = first.get_or_insert_with(|| out.clone());
            assert_eq!(
                bits(&out),
                bits(first),
                "{call}: the bits differ from those with 7 rows at a time"
            );
            let expected = Counts {
                reads: rows.div_ceil(at_once) as u64,
                seeks: 1,
                bytes: (rows * row) as u64,
            };
            check::assert_answer(&format!("{call}: counts"), &store.counts(), &expected);
        }
    });
}

/// Multiplies several ranges of rows. A chunk has room for five rows.
#[test]
pub(super) fn task_3_product_of_various_row_ranges() {
    check::resting_on(&[INT8], || {
        let (file, shape) = (file(), shape());
        let row = shape.row_bytes(Component::Head);
        let x: Vec<i16> = (0..shape.hidden).map(|i| (i as i16 - 9) * 1000).collect();
        let x = Activations { values: &x, scale: 0.001 };
        let mut store = open(&file);
        let mut chunk = vec![0; 5 * row];
        for rows in [0..5, 290..300, 17..17, 40..41, 3..14] {
            let mut out = vec![f32::NAN; rows.len()];
            let call = format!("product of rows {rows:?} of the head, 5 at a time");
            let done = check::assert_accepts(&call, || {
                store.product(Component::Head, rows.clone(), x, &mut chunk, &mut out)
            });
            assert_done(&call, done);
            for (out, row_number) in out.iter().zip(rows) {
                let at = shape.place(Component::Head, row_number) as usize;
                let (scale, weights) = split_row(&file[at..at + row]);
                let products =
                    weights.iter().zip(x.values).map(|(w, x)| i64::from(*w) * i64::from(*x));
                let sum = products.sum::<i64>() as f32;
                let expected = sum * (scale * x.scale);
                if out.to_bits() == expected.to_bits() {
                    continue;
                }
                let in_turn = [sum * scale * x.scale, sum * x.scale * scale];
                let diagnosis = if in_turn.contains(out) {
                    "\n  diagnosis You multiply the sum by one scale after the other. Multiply \
                    the scales first, then the sum by their product."
                } else {
                    ""
                };
                panic!(
                    "{call}: row {row_number}, compared bit by bit\n  found    {out:?}\n  expected \
                     {expected:?}{diagnosis}"
                );
            }
        }
        let mut out = [0.0; 2];
        check::assert_panics("product of 2 rows into 1 number", || {
            store.product(Component::Head, 0..2, x, &mut chunk, &mut out[..1])
        });
        check::assert_panics("product with a chunk one byte shorter than a row", || {
            store.product(Component::Head, 0..2, x, &mut chunk[..row - 1], &mut out)
        });
    });
}
