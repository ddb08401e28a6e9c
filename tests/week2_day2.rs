//! Week 2, day 2: GGUF files (header, metadata, tensor table), the roofline.
//!
//! Expected values: `python-ref/oracle/week2_day2.py`.

use std::fmt;

use anyhow::Result;
use tiny_llm::week2::{
    gguf::{
        Gguf,
        metadata::{read_array, read_metadata, read_value},
        reader::Reader,
        table::{alignment, check_places, data_start, place, read_tensor},
    },
    roofline::{Machine, Work, work},
};
use tiny_llm_formats::{
    gguf::{Array, MAGIC, Metadata, TensorInfo, TensorType, Value},
    tensor::tensor,
};
use tiny_llm_harness::{
    check::assert_answer,
    fixtures::{Case, Fixtures, Json},
    panics,
};

const FILE: &str = "some.gguf";

fn fixtures() -> Fixtures {
    Fixtures::open("week2_day2")
}

/// One line for each input, compared and shown as a whole.
#[derive(PartialEq)]
struct Lines(Vec<String>);

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

#[track_caller]
fn assert_lines(what: &str, lines: impl IntoIterator<Item = (String, String)>) {
    let (found, expected) = lines.into_iter().unzip();
    assert_answer(what, &Lines(found), &Lines(expected));
}

/// Does something with bytes that nobody vouches for: whatever they are, that ends in a value or an
/// error.
#[track_caller]
fn calmly<T>(what: &str, action: impl FnOnce() -> T) -> T {
    panics::catch(action).unwrap_or_else(|panic| {
        if panic.is_todo() {
            panic.go_on();
        }
        panic!(
            "{what}: this panicked: {}, at {}\n  bytes from a file are never to be trusted: what \
             is wrong with them is an error to be returned",
            panic.message(),
            panic.place
        )
    })
}

/// What `read` makes of the bytes and where the reader stands then, or that it is an error; errors
/// are worded otherwise by everyone.
#[track_caller]
fn outcome<'a, T: fmt::Debug>(
    what: &str,
    bytes: &'a [u8],
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) -> String {
    let mut reader = Reader::new(bytes, FILE);
    match calmly(what, || read(&mut reader)) {
        Ok(value) => format!("{value:?}, then at {}", reader.position()),
        Err(_) => "an error".to_owned(),
    }
}

/// The error must be one line that names the file and all of `parts`.
#[track_caller]
fn assert_says(what: &str, error: &anyhow::Error, parts: &[&str]) {
    let message = format!("{error:#}");
    assert!(!message.contains('\n'), "{what}: the message has more than one line: {message}");
    for part in [FILE].iter().chain(parts) {
        assert!(message.contains(part), "{what}: the message {message:?} does not say {part:?}");
    }
}

/// Reading these bytes must fail with a message that says all of `parts`.
#[track_caller]
fn refused<'a, T: fmt::Debug>(
    what: &str,
    bytes: &'a [u8],
    parts: &[&str],
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) {
    match calmly(what, || read(&mut Reader::new(bytes, FILE))) {
        Ok(value) => panic!(
            "{what}: {value:?} was read, but this must be refused with a message that says {}",
            parts.join(", ")
        ),
        Err(error) => assert_says(what, &error, parts),
    }
}

fn hex(json: &Json) -> Vec<u8> {
    let text = json.as_str().expect("a text of hexadecimal digits");
    (0..text.len() / 2)
        .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("two digits"))
        .collect()
}

fn list<'a>(case: &'a Case, name: &str) -> &'a [Json] {
    case.value(name).as_array().expect("a list")
}

fn text(json: &Json) -> String {
    json.as_str().expect("a text").to_owned()
}

/// What task 1's larger functions rest on. They are not judged while it is wrong, for their answers
/// would be nobody's.
#[track_caller]
fn parts_are_sound() {
    let mut reader = Reader::new(&[7, 1, 2, 3, 4, 5, 6, 7, 8, 9], FILE);
    let taken = reader.take(1, "a byte").is_ok_and(|bytes| bytes == [7]) && reader.position() == 1;
    let number = reader.number("a number").is_ok_and(|bytes| bytes == [1, 2, 3, 4])
        && reader.position() == 5;
    let count = |count: u64| {
        Reader::new(&[&count.to_le_bytes()[..], &[9; 3]].concat(), FILE).count(1, "a count").ok()
    };
    let counted = count(3) == Some(3) && count(4).is_none();
    let mut reader = Reader::new(&[3, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9], FILE);
    let counted = counted && reader.count(1, "a count").is_ok() && reader.position() == 8;
    assert!(
        taken && number && counted,
        "this rests on take, number and count, whose own tests fail: see task_1_take, \
         task_1_numbers_are_little_endian and task_1_counts_are_justified_by_the_file"
    );
}

/// Bytes that follow what is read: whoever reads too far gets numbers, not an error.
fn followed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().chain(1..=64).collect()
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

// Task 1

#[test]
fn task_1_take() {
    let bytes: Vec<u8> = (10..20).collect();
    let mut reader = Reader::new(&bytes, FILE);
    let steps = [
        (3, "[10, 11, 12], then at 3"),
        (0, "[], then at 3"),
        (4, "[13, 14, 15, 16], then at 7"),
        (4, "an error, then at 7"),
        (usize::MAX, "an error, then at 7"),
        (3, "[17, 18, 19], then at 10"),
        (0, "[], then at 10"),
        (1, "an error, then at 10"),
    ];
    let lines = steps.map(|(n, expected)| {
        let what = format!("take({n}) at {} of 10", reader.position());
        let found = calmly(&what, || reader.take(n, "field"))
            .map_or("an error".to_owned(), |bytes| format!("{bytes:?}"));
        (
            format!("take({n}): {found}, then at {}", reader.position()),
            format!("take({n}): {expected}"),
        )
    });
    assert_lines("take, one after the other, of a file with the bytes 10 to 19", lines);
    refused("take(11) of 10 bytes", &bytes, &["the field", "10", "11"], |reader| {
        reader.take(11, "the field")
    });
}

#[test]
fn task_1_numbers_are_little_endian() {
    let bytes: Vec<u8> = (1..=16).collect();
    let lines = [
        (
            "number::<2>",
            outcome("number", &bytes, |r| Ok(u16::from_le_bytes(r.number("n")?))),
            "513, then at 2",
        ),
        ("u32", outcome("u32", &bytes, |r| r.u32("n")), "67305985, then at 4"),
        ("u64", outcome("u64", &bytes, |r| r.u64("n")), "578437695752307201, then at 8"),
        (
            "u32, then u64",
            outcome("u32, u64", &bytes, |r| Ok((r.u32("n")?, r.u64("n")?))),
            "(67305985, 867798387104613893), then at 12",
        ),
        (
            "u64, u64, u32",
            outcome("u64, u64, u32", &bytes, |r| Ok((r.u64("n")?, r.u64("n")?, r.u32("n")?))),
            "an error",
        ),
        ("number::<0>", outcome("number", &bytes, |r| r.number::<0>("n")), "[], then at 0"),
    ];
    let lines = lines
        .map(|(name, found, expected)| (format!("{name}: {found}"), format!("{name}: {expected}")));
    assert_lines("numbers at the start of a file with the bytes 1 to 16", lines);
}

#[test]
fn task_1_counts_are_justified_by_the_file() {
    // A count, the bytes that each needs at least, the bytes that follow.
    let cases = [
        (3, 1, 4, "3, then at 8"),
        (3, 1, 3, "3, then at 8"),
        (3, 1, 2, "an error"),
        (2, 8, 16, "2, then at 8"),
        (2, 8, 15, "an error"),
        (0, 8, 0, "0, then at 8"),
        ((1 << 32) + 1, 1, 5, "an error"),
        (1 << 61, 8, 16, "an error"),
        (u64::MAX, 1, 16, "an error"),
    ];
    let lines = cases.map(|(count, each, follow, expected)| {
        let name = format!("{count} things of at least {each} bytes, {follow} bytes follow");
        let bytes = [&count.to_le_bytes()[..], &vec![7; follow]].concat();
        let found = outcome(&name, &bytes, |r| r.count(each, "things"));
        (format!("{name}: {found}"), format!("{name}: {expected}"))
    });
    assert_lines("count: no more than the rest of the file has room for", lines);
    refused(
        "a count of 1000 with 5 bytes to follow",
        &followed(&1000u64.to_le_bytes())[..13],
        &["things", "1000"],
        |r| r.count(1, "things"),
    );
}

#[test]
fn task_1_strings() {
    parts_are_sound();
    let too_long = |length: u64| [&length.to_le_bytes()[..], b"abc"].concat();
    let cases = [
        ("abc", followed(&string("abc")), "\"abc\", then at 11"),
        ("no letter", followed(&string("")), "\"\", then at 8"),
        (
            "19 bytes of UTF-8",
            followed(&string("naïve 日本 🙂.")),
            "\"naïve 日本 🙂.\", then at 27",
        ),
        ("a byte order mark, U+FEFF", followed(&string("\u{feff}a")), "\"\\u{feff}a\", then at 12"),
        ("a zero byte and spaces", followed(&string(" a\0b \0")), "\" a\\0b \\0\", then at 14"),
        ("a length of 4, of which 3 are there", too_long(4), "an error"),
        ("a length of 2^40, of which 3 are there", too_long(1 << 40), "an error"),
        ("a length of 2^64 - 8, of which 3 are there", too_long(u64::MAX - 7), "an error"),
        (
            "the bytes C3 28, which are not UTF-8",
            followed(&[2, 0, 0, 0, 0, 0, 0, 0, 0xC3, 0x28]),
            "an error",
        ),
        ("an unfinished character", followed(&[1, 0, 0, 0, 0, 0, 0, 0, 0xE6]), "an error"),
    ];
    let lines = cases.map(|(name, bytes, expected)| {
        let found = outcome(name, &bytes, |r| r.string("text"));
        (format!("{name}: {found}"), format!("{name}: {expected}"))
    });
    assert_lines(
        "string: eight bytes of length, then so many bytes of UTF-8, each as it is",
        lines,
    );
    refused(
        "a string of the bytes C3 28",
        &[2, 0, 0, 0, 0, 0, 0, 0, 0xC3, 0x28],
        &["the key", "UTF-8"],
        |r| r.string("the key"),
    );
}

#[test]
fn task_1_strings_of_any_length() {
    let long = "ü".repeat(50_000);
    let bytes = string(&long);
    let found = calmly("string", || Reader::new(&bytes, FILE).string("text").map(str::to_owned));
    assert!(
        found.is_ok_and(|found| found == long),
        "a string of 100,000 bytes, as a chat template may be: it was refused, or came back as another"
    );
}

#[test]
fn task_1_the_magic_is_four_bytes() {
    for magic in [*b"gguf", *b"GGUf", *b"gGUF", *b"GGUX", *b"GGML", *b"FUGG"] {
        let bytes = header(&magic, 3, 1, 1);
        let found = calmly("header", || Reader::new(&bytes, FILE).header().is_ok());
        assert!(
            !found,
            "a header that begins with {:?} was accepted: a file begins with the four bytes of \"GGUF\"",
            magic.escape_ascii().to_string()
        );
    }
}

/// A header with these fields, and 600 bytes behind it.
fn header(magic: &[u8], version: u32, tensors: u64, metadata: u64) -> Vec<u8> {
    [magic, &version.to_le_bytes(), &tensors.to_le_bytes(), &metadata.to_le_bytes(), &[0; 600]]
        .concat()
}

#[test]
fn task_1_headers() {
    parts_are_sound();
    let fixtures = fixtures();
    let case = fixtures.case("task_1_header/versions");
    let of_the_package = list(&case, "files").iter().map(|file| {
        let expected = file["is"].as_array().map_or("an error".to_owned(), |h| {
            format!(
                "Header {{ version: {}, tensors: {}, metadata: {} }}, then at 24",
                h[0], h[1], h[2]
            )
        });
        (text(&file["name"]), hex(&file["bytes"]), expected)
    });
    let made_up = [
        ("the magic ggml", header(b"ggml", 3, 1, 1), "an error"),
        (
            "2 tensors and 5 entries",
            header(&MAGIC, 3, 2, 5),
            "Header { version: 3, tensors: 2, metadata: 5 }, then at 24",
        ),
        ("2^32 + 1 tensors", header(&MAGIC, 3, (1 << 32) + 1, 1), "an error"),
        ("2^60 entries", header(&MAGIC, 3, 1, 1 << 60), "an error"),
        (
            "3 entries in 39 bytes",
            header(&MAGIC, 3, 0, 3)[..24 + 39].to_vec(),
            "Header { version: 3, tensors: 0, metadata: 3 }, then at 24",
        ),
        ("2 tensors in 40 bytes", header(&MAGIC, 3, 2, 0)[..24 + 40].to_vec(), "an error"),
        ("version 0", header(&MAGIC, 0, 1, 1), "an error"),
    ];
    let made_up =
        made_up.map(|(name, bytes, expected)| (name.to_owned(), bytes, expected.to_owned()));
    let lines: Vec<_> = of_the_package
        .chain(made_up)
        .map(|(name, bytes, expected)| {
            let found = outcome(&name, &bytes, Reader::header);
            (format!("{name}: {found}"), format!("{name}: {expected}"))
        })
        .collect();
    assert_lines("header: magic, version, number of tensors, number of metadata entries", lines);
}

#[test]
fn task_1_headers_are_refused_in_words() {
    parts_are_sound();
    let fixtures = fixtures();
    let case = fixtures.case("task_1_header/versions");
    let file = |name: &str| {
        hex(
            &list(&case, "files").iter().find(|file| file["name"] == name).expect("it is there")["bytes"],
        )
    };
    refused("a big-endian file", &file("big-endian"), &["version", "big-endian"], Reader::header);
    refused(
        "a big-endian file of version 2",
        &header(&MAGIC, 2u32.swap_bytes(), 0, 0),
        &["version", "big-endian"],
        Reader::header,
    );
    refused("a file of version 4", &file("version 4"), &["version", "4"], Reader::header);
    refused("a file of version 1", &file("version 1"), &["version", "1"], Reader::header);
    refused(
        "a ZIP file",
        &header(b"PK\x03\x04", 3, 0, 0),
        &["magic", "PK", "GGUF"],
        Reader::header,
    );
    let whole = header(&MAGIC, 3, 0, 0);
    for n in 0..24 {
        refused(&format!("a file of {n} bytes"), &whole[..n], &[], Reader::header);
    }
    assert_eq!(
        outcome("a file without anything", &whole[..24], Reader::header),
        "Header { version: 3, tensors: 0, metadata: 0 }, then at 24"
    );
}

// Task 2

#[test]
fn task_2_values_of_every_type() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_values/each_type");
    let lines = list(&case, "values").iter().map(|value| {
        let (bytes, type_id) =
            (hex(&value["bytes"]), value["type"].as_u64().expect("a number") as u32);
        let name = format!("type {type_id}, {} bytes", bytes.len());
        let found = outcome(&name, &followed(&bytes), |r| read_value(r, type_id, "metadata k"));
        (
            format!("{name}: {found}"),
            format!("{name}: {}, then at {}", text(&value["is"]), bytes.len()),
        )
    });
    assert_lines("read_value: each type, followed by other bytes", lines);
}

#[test]
fn task_2_arrays_of_every_type() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_arrays/each_type");
    let arrays = list(&case, "values").iter().map(|value| {
        let bytes = hex(&value["bytes"]);
        let name = format!("elements of type {}", bytes[0]);
        let found = outcome(&name, &followed(&bytes), |r| read_array(r, "metadata k"));
        (
            format!("{name}: {found}"),
            format!("{name}: {}, then at {}", text(&value["is"]), bytes.len()),
        )
    });
    let empty = [8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let found = outcome("no element", &empty, |r| read_array(r, "metadata k"));
    let lines = arrays
        .chain([(format!("no string: {found}"), "no string: String([]), then at 12".to_owned())]);
    assert_lines("read_array: each type of elements, followed by other bytes", lines);
}

#[test]
fn task_2_an_array_is_a_value() {
    let bytes = [2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
    let found = outcome("an array", &followed(&bytes), |r| read_value(r, 9, "metadata k"));
    assert_answer(
        "read_value of type 9, two elements of type 2",
        &found,
        &"Array(U16([513, 1027])), then at 16".to_owned(),
    );
}

#[test]
fn task_2_metadata_entries() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_metadata/as_a_converter_writes_it");
    let file = hex(case.value("file"));
    let mut reader = Reader::new(&file[24..], FILE);
    let metadata =
        calmly("read_metadata", || read_metadata(&mut reader, case.count("count"), FILE));
    let metadata = metadata
        .unwrap_or_else(|e| panic!("these entries are in order, but they were refused: {e}"));
    let mut found: Vec<_> =
        metadata.iter().map(|(key, value)| format!("{key} = {value:?}")).collect();
    found.push(format!("then {} bytes are left", reader.remaining()));
    let expected = list(&case, "entries")
        .iter()
        .map(text)
        .chain(["then 0 bytes are left".to_owned()])
        .collect();
    assert_answer("read_metadata: eleven entries", &Lines(found), &Lines(expected));
    assert_eq!(metadata.file(), FILE, "the metadata know the file's name, for messages");
}

#[test]
fn task_2_keys_and_texts_are_kept_as_they_are() {
    let bytes = [
        entry("General.Name", 8, &string(" Mixed Case ")),
        entry("general.name", 8, &string("other")),
        entry(" a b", 0, &[7]),
    ]
    .concat();
    let read = outcome("entries", &bytes, |r| {
        let metadata = read_metadata(r, 3, FILE)?;
        let entries = metadata.iter().map(|(key, value)| format!("{key:?} {value:?}"));
        let mut entries: Vec<String> = entries.collect();
        entries.sort_unstable();
        Ok(entries)
    });
    let mut expected = [
        "\"General.Name\" String(\" Mixed Case \")",
        "\"general.name\" String(\"other\")",
        "\" a b\" U8(7)",
    ];
    expected.sort_unstable();
    let expected = format!("{expected:?}, then at {}", bytes.len());
    assert_eq!(read, expected, "keys that differ in case alone, and one with blanks");
}

/// A metadata entry with a value of these bytes.
fn entry(key: &str, type_id: u32, value: &[u8]) -> Vec<u8> {
    [&string(key)[..], &type_id.to_le_bytes(), value].concat()
}

#[test]
fn task_2_whatever_a_file_may_hold() {
    let nan = f32::NAN.to_le_bytes();
    let bytes = [entry("", 0, &[7]), entry("nan", 6, &nan)].concat();
    let read = || read_metadata(&mut Reader::new(&bytes, FILE), 2, FILE);
    let found = calmly("read_metadata", read)
        .unwrap_or_else(|error| panic!("an entry with the key \"\" and a NaN are legal: {error}"));
    let is_nan = |value: &Value| matches!(value, Value::F32(x) if x.is_nan());
    let found: Vec<_> = found.iter().map(|(key, value)| (key.to_owned(), value)).collect();
    assert!(
        matches!(&found[..], [(empty, Value::U8(7)), (_, x)] if empty.is_empty() && is_nan(x)),
        "the entries \"\" = 7 and \"nan\" = NaN: found {found:?}"
    );
    let texts: Vec<String> = (0..600).map(|i| format!("token {}", i % 500)).collect();
    let body: Vec<u8> = texts.iter().flat_map(|text| string(text)).collect();
    let bytes = [&8u32.to_le_bytes()[..], &600u64.to_le_bytes(), &body].concat();
    let found = calmly("read_array", || read_array(&mut Reader::new(&bytes, FILE), "tokens"));
    assert!(
        matches!(found, Ok(Array::String(found)) if found == texts),
        "an array of 600 strings, of which a hundred stand twice: it was refused, or came back as another"
    );
}

#[test]
fn task_2_bad_metadata_is_refused_in_words() {
    let number = |n: u32| n.to_le_bytes().to_vec();
    let array = |type_id: u32, count: u64, rest: &[u8]| {
        [&type_id.to_le_bytes()[..], &count.to_le_bytes(), rest].concat()
    };
    let cases: [(&str, Vec<u8>, &[&str]); 17] = [
        ("a value of type 13", entry("a.key", 13, &number(1)), &["a.key", "13"]),
        (
            "a value of type 2^32 - 1",
            entry("a.key", u32::MAX, &number(1)),
            &["a.key", "4294967295"],
        ),
        ("a truth value of 2", entry("a.key", 7, &[2]), &["a.key", "2"]),
        (
            "a truth value of 255 in an array",
            entry("a.key", 9, &array(7, 2, &[1, 255])),
            &["a.key", "255"],
        ),
        ("elements of type 14", entry("a.key", 9, &array(14, 1, &[0; 8])), &["a.key", "14"]),
        (
            "an array of arrays",
            entry("a.key", 9, &array(9, 1, &array(4, 1, &number(1)))),
            &["a.key", "array"],
        ),
        ("an array of no arrays", entry("a.key", 9, &array(9, 0, &[])), &["a.key", "array"]),
        (
            "2^61 numbers",
            entry("a.key", 9, &array(10, 1 << 61, &[0; 16])),
            &["a.key", "2305843009213693952"],
        ),
        (
            "2^62 + 1 numbers of 4 bytes",
            entry("a.key", 9, &array(4, (1 << 62) + 1, &[0; 16])),
            &["a.key", "4611686018427387905"],
        ),
        ("5 numbers of 4 bytes in 16", entry("a.key", 9, &array(4, 5, &[0; 16])), &["a.key", "5"]),
        ("10 strings in 40 bytes", entry("a.key", 9, &array(8, 10, &[0; 40])), &["a.key", "10"]),
        ("a key of two lines", entry("a\nkey", 13, &number(1)), &["13"]),
        (
            "2^40 strings",
            entry("a.key", 9, &array(8, 1 << 40, &[0; 16])),
            &["a.key", "1099511627776"],
        ),
        (
            "a string that is too long",
            entry("a.key", 8, &[&99u64.to_le_bytes()[..], b"abc"].concat()),
            &["a.key", "99"],
        ),
        ("the file ends in a value", entry("a.key", 10, &[0; 7]), &["a.key", "7"]),
        (
            "a key that is not UTF-8",
            [&[1, 0, 0, 0, 0, 0, 0, 0, 0xFF][..], &[0; 16]].concat(),
            &["key", "UTF-8"],
        ),
        (
            "one key twice",
            [entry("b.key", 0, &[1]), entry("a.key", 0, &[1])].concat(),
            &["a.key", "twice"],
        ),
    ];
    for (name, bytes, parts) in cases {
        let bytes = [entry("a.key", 0, &[1]), bytes];
        // All but the last are refused for themselves, so the good entry before them has another
        // key.
        let first = if name == "one key twice" {
            entry("a.key", 0, &[1])
        } else {
            entry("another.key", 0, &[1])
        };
        let count = if name == "one key twice" { 3 } else { 2 };
        refused(name, &[first, bytes[1].clone()].concat(), parts, |r| {
            read_metadata(r, count, FILE)
        });
    }
}

// Task 3

#[test]
fn task_3_entries_of_every_type_and_shape() {
    let fixtures = fixtures();
    let case = fixtures.case("task_3_entries/every_type_and_shape");
    let lines = list(&case, "entries").iter().map(|entry| {
        let bytes = hex(&entry["bytes"]);
        let expected = format!("{}, then at {}", text(&entry["is"]), bytes.len());
        (outcome(&expected, &followed(&bytes), |r| read_tensor(r, 0)), expected)
    });
    assert_lines(
        "read_tensor: a matrix of three rows of two blocks in each type, then tensors of one to \
         four axes",
        lines,
    );
}

/// An entry of the tensor table.
fn table_entry(name: &str, axes: &[u64], type_id: u32, offset: u64) -> Vec<u8> {
    let axes_bytes: Vec<u8> = axes.iter().flat_map(|n| n.to_le_bytes()).collect();
    [
        &string(name)[..],
        &(axes.len() as u32).to_le_bytes(),
        &axes_bytes,
        &type_id.to_le_bytes(),
        &offset.to_le_bytes(),
    ]
    .concat()
}

#[test]
fn task_3_bad_entries_are_refused_in_words() {
    let cases: [(&str, Vec<u8>, &[&str]); 12] = [
        ("five axes", table_entry("a.weight", &[1; 5], 0, 0), &["a.weight", "5"]),
        ("no axes", table_entry("a.weight", &[], 0, 0), &["a.weight", "0"]),
        (
            "2^32 - 1 axes",
            [&string("a.weight")[..], &[255; 4], &[1; 64]].concat(),
            &["a.weight", "4294967295"],
        ),
        ("an axis of length 0", table_entry("a.weight", &[32, 0], 0, 0), &["a.weight", "0"]),
        (
            "type 31, which is no more in use",
            table_entry("a.weight", &[32], 31, 0),
            &["a.weight", "31"],
        ),
        (
            "type 23, IQ4_XS, which this engine does not run",
            table_entry("a.weight", &[256], 23, 0),
            &["a.weight", "23"],
        ),
        (
            "rows of 32 weights in blocks of 256, eight of them",
            table_entry("a.weight", &[32, 8], 12, 0),
            &["a.weight", "32"],
        ),
        (
            "a row of 48 weights in blocks of 32",
            table_entry("a.weight", &[48, 2], 8, 0),
            &["a.weight", "48"],
        ),
        ("2^62 numbers of 4 bytes", table_entry("a.weight", &[1 << 62], 0, 0), &["a.weight"]),
        (
            "2^32 rows of 2^32 numbers",
            table_entry("a.weight", &[1 << 32, 1 << 32], 0, 0),
            &["a.weight"],
        ),
        (
            "a product of axes that is 0 modulo 2^64",
            table_entry("a.weight", &[1 << 32, 1 << 31, 2, 1], 1, 0),
            &["a.weight"],
        ),
        (
            "the file ends in the entry",
            table_entry("a.weight", &[32], 0, 0)[..30].to_vec(),
            &["a.weight"],
        ),
    ];
    for (name, bytes, parts) in cases {
        refused(name, &bytes, parts, |r| read_tensor(r, 3));
    }
}

#[test]
fn task_3_whatever_an_entry_may_hold() {
    for (name, axes) in [("", vec![32]), ("Blk.0.ATTN_Q.Weight", vec![32, 2]), ("ü b", vec![1])] {
        let bytes = table_entry(name, &axes, 0, 64);
        let found = calmly("read_tensor", || read_tensor(&mut Reader::new(&bytes, FILE), 0))
            .unwrap_or_else(|error| panic!("a tensor called {name:?} is legal: {error}"));
        assert!(found.name == name, "a tensor called {name:?}: found the name {:?}", found.name);
    }
    // 2³² + 32 weights are too many for this file, but they can be counted, and are not 32.
    let bytes = table_entry("large", &[(1 << 32) + 32], 0, 0);
    let found = calmly("read_tensor", || read_tensor(&mut Reader::new(&bytes, FILE), 0));
    assert!(
        found.as_ref().is_ok_and(|found| found.shape == [(1 << 32) + 32]),
        "a tensor of 2³² + 32 weights: found {found:?}"
    );
    let large = (1usize << 32) + 5;
    let found = data_start(large, 32);
    assert!(found == Some((1 << 32) + 32), "data_start({large}, 32): found {found:?}");
    for power in 0..=20 {
        let found = calmly("alignment", || alignment(&metadata(Some(Value::U32(1 << power)))));
        assert!(
            found.as_ref().is_ok_and(|found| *found == 1 << power),
            "general.alignment = {}: found {found:?}; any power of two is legal",
            1 << power
        );
        let found = data_start(5, 1 << power);
        let expected = if power < 3 { [5, 6, 8][power] } else { 1 << power };
        assert!(
            found == Some(expected),
            "data_start(5, {}): found {found:?}, expected {expected}",
            1 << power
        );
    }
}

#[test]
fn task_3_axes_of_length_1_count() {
    for axes in [&[32, 1][..], &[32, 1, 1], &[32, 1, 3], &[32, 3, 1, 1]] {
        let bytes = table_entry("a", axes, 0, 0);
        let found = calmly("read_tensor", || read_tensor(&mut Reader::new(&bytes, FILE), 0));
        let found = found.map(|info| info.shape).map_err(|error| error.to_string());
        let expected: Vec<usize> = axes.iter().rev().map(|&n| n as usize).collect();
        assert_eq!(found, Ok(expected), "shape of a tensor whose axes are {axes:?} in the file");
    }
}

fn metadata(alignment: Option<Value>) -> Metadata {
    let mut metadata = Metadata::new(FILE);
    if let Some(value) = alignment {
        metadata.insert("general.alignment", value);
    }
    metadata
}

#[test]
fn task_3_alignment() {
    let cases = [
        (None, "32"),
        (Some(64), "64"),
        (Some(1), "1"),
        (Some(8), "8"),
        (Some(4096), "4096"),
        (Some(0), "an error"),
        (Some(48), "an error"),
    ];
    let lines = cases.map(|(value, expected)| {
        let name = value.map_or("nothing".to_owned(), |n| n.to_string());
        let found = calmly(&name, || alignment(&metadata(value.map(Value::U32))));
        let found = found.map_or("an error".to_owned(), |n| n.to_string());
        (format!("{name}: {found}"), format!("{name}: {expected}"))
    });
    assert_lines("alignment: what general.alignment says", lines);
    let error = alignment(&metadata(Some(Value::U32(24)))).expect_err("24 is no power of two");
    assert_says("an alignment of 24", &error, &["general.alignment", "24"]);
    let error = alignment(&metadata(Some(Value::String("32".to_owned()))))
        .expect_err("a text is no alignment");
    assert_says("a text as alignment", &error, &["general.alignment"]);
}

#[test]
fn task_3_the_data_begins_at_the_next_multiple() {
    let cases = [
        (0, 32),
        (1, 32),
        (31, 32),
        (32, 32),
        (33, 32),
        (100, 64),
        (128, 64),
        (129, 1),
        (4097, 4096),
    ];
    let expected = [0, 32, 32, 32, 64, 128, 128, 129, 8192];
    let lines = cases.into_iter().zip(expected).map(|((position, alignment), expected)| {
        let name = format!("a table that ends at {position}, alignment {alignment}");
        let found = calmly(&name, || data_start(position, alignment));
        (format!("{name}: {found:?}"), format!("{name}: {:?}", Some(expected)))
    });
    assert_lines("data_start", lines);
    assert_eq!(
        calmly("an alignment of 2^63", || data_start((1 << 63) + 1, 1 << 63)),
        None,
        "no number is large enough for 2^64"
    );
}

fn info(name: &str, offset: usize, size: usize) -> TensorInfo {
    TensorInfo {
        name: name.to_owned(),
        shape: vec![size / 4],
        tensor_type: TensorType::F32,
        offset,
        size,
    }
}

#[test]
fn task_3_places_in_the_file() {
    let lines = [(0, 12, 96, "96..108"), (64, 32, 96, "160..192"), (32, 4, 0, "32..36")].map(
        |(offset, size, start, expected)| {
            let name = format!("offset {offset}, {size} bytes, the data begins at {start}");
            (
                format!("{name}: {:?}", place(&info("a", offset, size), start)),
                format!("{name}: {expected}"),
            )
        },
    );
    assert_lines("place: counted from the start of the file", lines);
}

#[test]
fn task_3_places_are_checked() {
    /// A name; offsets and sizes; the alignment; the length of the data; whether it is right.
    type Places = (&'static str, &'static [(usize, usize)], usize, usize, bool);
    let cases: [Places; 18] = [
        ("three, the third over the second", &[(0, 40), (64, 68), (128, 8)], 32, 200, false),
        ("three, the third ends after the data", &[(0, 40), (64, 40), (128, 80)], 32, 200, false),
        ("three, the third at no multiple", &[(0, 40), (64, 40), (129, 8)], 32, 200, false),
        ("nothing", &[], 32, 0, true),
        ("one that ends with the data", &[(0, 40)], 32, 40, true),
        ("one that ends a byte after the data", &[(0, 40)], 32, 39, false),
        ("one that begins after the data", &[(0, 40), (96, 4)], 32, 90, false),
        ("two with padding between", &[(0, 40), (64, 40)], 32, 104, true),
        ("two that touch", &[(0, 64), (64, 40)], 32, 104, true),
        ("two with a gap", &[(0, 40), (256, 40)], 32, 300, true),
        ("one that begins behind the start of the data", &[(32, 40)], 32, 72, true),
        ("two that overlap", &[(0, 68), (64, 40)], 32, 104, false),
        ("two at one place", &[(0, 40), (0, 40)], 32, 104, false),
        ("two in another order", &[(64, 40), (0, 40)], 32, 104, true),
        ("three, the first over the third", &[(0, 140), (160, 4), (128, 8)], 32, 200, false),
        ("one at no multiple of 32", &[(0, 16), (16, 16)], 32, 104, false),
        ("the same with an alignment of 16", &[(0, 16), (16, 16)], 16, 104, true),
        ("an offset of almost 2^64", &[(usize::MAX - 31, 64)], 32, 104, false),
    ];
    let lines = cases.map(|(name, places, alignment, len, fine)| {
        let tensors: Vec<_> = places
            .iter()
            .enumerate()
            .map(|(i, &(offset, size))| info(&format!("t{i}"), offset, size))
            .collect();
        let found = calmly(name, || check_places(&tensors, alignment, len, FILE)).is_ok();
        let shown = |fine| format!("{name}: {}", if fine { "fine" } else { "an error" });
        (shown(found), shown(fine))
    });
    assert_lines("check_places", lines);
    let says = |tensors: &[TensorInfo], parts: &[&str]| {
        let error = check_places(tensors, 32, 200, FILE).expect_err("this was found wrong above");
        assert_says("check_places", &error, parts);
    };
    says(&[info("a", 0, 40), info("b.weight", 33, 4)], &["b.weight", "33", "32"]);
    says(&[info("a", 0, 68), info("b.weight", 64, 40)], &["b.weight", "64"]);
    says(&[info("a", 0, 68), info("b.weight", 192, 40)], &["b.weight", "192"]);
}

/// Reads a whole file. While task 3 is open this says so, whatever is open elsewhere.
fn parse(bytes: &[u8]) -> Result<Gguf> {
    let _ = data_start(0, 32);
    calmly("Gguf::parse", || Gguf::parse(bytes.to_vec().into(), FILE))
}

fn check_file(name: &str) {
    let fixtures = fixtures();
    let case = fixtures.case(&format!("task_3_file/{name}"));
    let bytes = hex(case.value("file"));
    let gguf = parse(&bytes)
        .unwrap_or_else(|e| panic!("{name}: the file is in order, but it was refused: {e}"));
    assert_eq!(gguf.data_start, case.count("data_start"), "{name}: where the data begins");
    let found: Vec<_> =
        gguf.metadata.iter().map(|(key, value)| format!("{key} = {value:?}")).collect();
    assert_eq!(found, list(&case, "entries").iter().map(text).collect::<Vec<_>>());
    let tensors = list(&case, "tensors");
    assert_eq!(gguf.tensors.len(), tensors.len());
    for (found, expected) in gguf.tensors.iter().zip(tensors) {
        let size = |field: &str| expected[field].as_u64().expect("a number") as usize;
        let shape: Vec<_> = expected["shape"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|n| n.as_u64().expect("a number") as usize)
            .collect();
        assert_eq!((&found.name, &found.shape), (&text(&expected["name"]), &shape));
        assert_eq!(
            (found.tensor_type.to_string(), found.size),
            (text(&expected["type"]), size("size")),
            "{}",
            found.name
        );
        let data = gguf.bytes_of(gguf.tensor(&found.name).expect("it is in the table"));
        assert!(
            *data == bytes[size("start")..][..size("size")],
            "{}: bytes_of gives other bytes than the gguf package",
            found.name
        );
    }
    assert!(gguf.tensor("no.such.tensor").is_none() && gguf.required("no.such.tensor").is_err());
}

#[test]
fn task_3_a_whole_file() {
    check_file("aligned_to_32");
}

#[test]
fn task_3_a_whole_file_with_larger_alignment() {
    check_file("aligned_to_64");
}

#[test]
fn task_3_a_whole_file_with_smaller_alignment() {
    check_file("aligned_to_8");
}

/// A file of one entry and two tensors of 8 numbers each.
fn small_file() -> Vec<u8> {
    let head = [&MAGIC[..], &3u32.to_le_bytes(), &2u64.to_le_bytes(), &1u64.to_le_bytes()].concat();
    let table = [
        entry("general.alignment", 4, &32u32.to_le_bytes()),
        table_entry("a", &[4, 2], 0, 0),
        table_entry("b", &[8], 0, 32),
    ]
    .concat();
    let mut file = [head, table].concat();
    file.resize(file.len().next_multiple_of(32) + 64, 9);
    file
}

#[test]
fn task_3_malformed_files_are_refused_in_words() {
    let good = small_file();
    let gguf =
        parse(&good).unwrap_or_else(|e| panic!("the file is in order, but it was refused: {e}"));
    assert_eq!(
        gguf.tensors.iter().map(|t| gguf.bytes_of(t).to_vec()).collect::<Vec<_>>(),
        [[9; 32], [9; 32]]
    );
    // Replaces the first place where `from` stands.
    let changed = |from: &[u8], to: &[u8]| {
        let at =
            good.windows(from.len()).position(|window| window == from).expect("it is in the file");
        [&good[..at], to, &good[at + from.len()..]].concat()
    };
    let b = table_entry("b", &[8], 0, 32);
    let cases: [(&str, Vec<u8>, &[&str]); 9] = [
        ("one name twice", changed(&b, &table_entry("a", &[8], 0, 32)), &["tensor a", "twice"]),
        ("an overlap", changed(&b, &table_entry("b", &[8], 0, 0)), &["tensor"]),
        (
            "an offset after the end",
            changed(&b, &table_entry("b", &[8], 0, 96)),
            &["tensor b", "96"],
        ),
        (
            "an offset of 2^63",
            changed(&b, &table_entry("b", &[8], 0, 1 << 63)),
            &["tensor b", "9223372036854775808"],
        ),
        (
            "more rows than there are bytes",
            changed(&b, &table_entry("b", &[9], 0, 32)),
            &["tensor b"],
        ),
        ("a byte is missing", good[..good.len() - 1].to_vec(), &["tensor b"]),
        ("all data is missing", good[..good.len() - 64].to_vec(), &["tensor"]),
        ("an alignment of 0", changed(&32u32.to_le_bytes(), &[0; 4]), &["general.alignment", "0"]),
        ("a name of two lines", changed(&b, &table_entry("b\nc", &[7], 8, 32)), &["tensor b"]),
    ];
    for (name, bytes, parts) in cases {
        match parse(&bytes) {
            Ok(_) => panic!(
                "{name}: the file was read, but it must be refused with a message that says {}",
                parts.join(", ")
            ),
            Err(error) => assert_says(name, &error, parts),
        }
    }
}

#[test]
fn task_3_no_byte_makes_it_panic() {
    let good = small_file();
    let check = |bytes: &[u8]| match parse(bytes) {
        // Whatever was read, every tensor lies in the file.
        Ok(gguf) => gguf
            .tensors
            .iter()
            .for_each(|t| assert_eq!(calmly("bytes_of", || gguf.bytes_of(t).len()), t.size)),
        Err(error) => assert_says("a damaged file", &error, &[]),
    };
    for n in 0..good.len() {
        assert!(
            parse(&good[..n]).is_err(),
            "the first {n} of {} bytes were taken for a whole file",
            good.len()
        );
    }
    for at in 0..good.len() {
        for byte in [0, 1, 0x7F, 0x80, 0xFF, good[at] ^ 1, good[at].wrapping_add(1)] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            check(&bytes);
        }
        // Eight bytes at once: a count, a length or an offset as large as can be.
        let mut bytes = good.clone();
        bytes.iter_mut().skip(at).take(8).for_each(|byte| *byte = 0xFF);
        check(&bytes);
    }
}

// Task 4

#[test]
fn task_4_bytes_and_operations_of_a_token() {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_work/models");
    let lines = list(&case, "models").iter().map(|model| {
        let layers = model["layers"].as_u64().expect("a number");
        let mut tensors = Vec::new();
        for row in model["tensors"].as_array().expect("a list") {
            let shape = row[1]
                .as_array()
                .expect("a list")
                .iter()
                .map(|n| n.as_u64().expect("a number") as usize)
                .collect();
            let tensor_type = text(&row[2]).parse().expect("a type");
            let tensor = TensorInfo {
                name: text(&row[0]),
                shape,
                tensor_type,
                offset: 0,
                size: row[3].as_u64().expect("a number") as usize,
            };
            // Only the first layer stands in the fixture; all others are like it.
            let copies = if tensor.name.starts_with("blk.0.") { layers } else { 1 };
            tensors.extend((0..copies).map(|i| TensorInfo {
                name: tensor.name.replace("blk.0.", &format!("blk.{i}.")),
                ..tensor.clone()
            }));
        }
        let name = text(&model["model"]);
        (format!("{name}: {:?}", work(&tensors)), format!("{name}: {}", text(&model["is"])))
    });
    assert_lines("work: what a decoded token needs", lines);
}

#[test]
fn task_4_the_longer_of_reading_and_computing() {
    let seconds: fn(&Machine, Work, usize) -> f64 = Machine::seconds;
    check_machine("seconds", seconds);
}

#[test]
fn task_4_tokens_in_a_second() {
    check_machine("tokens_per_second", Machine::tokens_per_second);
}

#[test]
fn task_4_where_memory_and_arithmetic_balance() {
    check_machine("balanced_rows", |machine, work, _| machine.balanced_rows(work));
}

fn check_machine(output: &str, found: impl Fn(&Machine, Work, usize) -> f64) {
    let fixtures = fixtures();
    let case = fixtures.case("task_4_machine/both_sides");
    let mut names = Vec::new();
    let mut values = Vec::new();
    for pass in list(&case, "passes") {
        let [bytes, multiply_adds, bandwidth, operations, rows] =
            std::array::from_fn(|i| pass[i].as_u64().expect("a number"));
        let machine = Machine { bandwidth: bandwidth as f64, operations: operations as f64 };
        names.push(format!(
            "{bytes} bytes, {multiply_adds} multiply-adds, {rows} rows, {machine:?}"
        ));
        values.push(found(&machine, Work { bytes, multiply_adds }, rows as usize) as f32);
    }
    case.check_rows(output, &names, &tensor(&[values.len()], values));
}

#[test]
fn task_4_however_large_the_tensors() {
    let large = |name: &str| TensorInfo {
        name: name.to_owned(),
        shape: vec![100_000, 50_000],
        tensor_type: TensorType::F32,
        offset: 0,
        size: 20_000_000_000,
    };
    let found = work(&[large("blk.0.ffn_up.weight"), large("blk.1.ffn_up.weight")]);
    let expected = Work { bytes: 40_000_000_000, multiply_adds: 10_000_000_000 };
    assert!(
        (found.bytes, found.multiply_adds) == (expected.bytes, expected.multiply_adds),
        "two matrices of 100,000 × 50,000 in f32: found {found:?}, expected {expected:?}"
    );
    // A number with more digits than f32 has.
    let machine = Machine { bandwidth: 1.0, operations: 1e30 };
    let found = machine.seconds(Work { bytes: 123_456_789_123, multiply_adds: 1 }, 1);
    assert!(
        found == 123_456_789_123.0,
        "123,456,789,123 bytes at one byte a second take as many seconds, found {found}: counts have more digits than f32"
    );
}

/// Inputs drawn anew for each grading, whose answers `cargo course grade` compares elsewhere.
#[cfg(feature = "fresh")]
#[path = "fresh/week2_day2.rs"]
mod fresh;
