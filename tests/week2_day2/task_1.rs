//! Week 2, day 2, task 1: reading untrusted bytes.

use tiny_llm::week2::gguf::reader::Reader;
use tiny_llm_formats::gguf::MAGIC;

use super::{
    FILE, assert_lines, calmly, fixtures, followed, hex, list, outcome, refused, string, text,
};

/// Checks the small functions that task 1's larger functions use. If these are wrong, results of
/// the larger functions mean nothing.
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
        "this test depends on take, number and count, and one of them is wrong: see the tests \
         task_1_take, task_1_numbers_are_little_endian and task_1_count_rejects_items_that_do_not_fit"
    );
}

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
    assert_lines("take, several times in a row, from a file with the bytes 10 to 19", lines);
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
fn task_1_count_rejects_items_that_do_not_fit() {
    // Count, minimum bytes of an item, bytes that follow, expected outcome.
    let cases = [
        (3, 1, 4, "3, then at 8"),
        (3, 1, 3, "3, then at 8"),
        (3, 1, 2, "an error"),
        (2, 8, 16, "2, then at 8"),
        (2, 8, 15, "an error"),
        (3, 8, 15, "an error"),
        (0, 8, 0, "0, then at 8"),
        ((1 << 32) + 1, 1, 5, "an error"),
        (1 << 61, 8, 16, "an error"),
        (u64::MAX, 1, 16, "an error"),
    ];
    let lines = cases.map(|(count, each, follow, expected)| {
        let name = format!(
            "a count of {count} items of at least {each} bytes, followed by {follow} bytes"
        );
        let bytes = [&count.to_le_bytes()[..], &vec![7; follow]].concat();
        let found = outcome(&name, &bytes, |r| r.count(each, "things"));
        (format!("{name}: {found}"), format!("{name}: {expected}"))
    });
    assert_lines("count: an error if the items don't fit in the rest of the file", lines);
    refused(
        "a count of 1000, but only 5 bytes follow",
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
        ("an empty string", followed(&string("")), "\"\", then at 8"),
        (
            "19 bytes of UTF-8",
            followed(&string("naïve 日本 🙂.")),
            "\"naïve 日本 🙂.\", then at 27",
        ),
        ("a byte order mark, U+FEFF", followed(&string("\u{feff}a")), "\"\\u{feff}a\", then at 12"),
        ("a zero byte and spaces", followed(&string(" a\0b \0")), "\" a\\0b \\0\", then at 14"),
        ("a length of 4, but only 3 bytes follow", too_long(4), "an error"),
        ("a length of 2^40, but only 3 bytes follow", too_long(1 << 40), "an error"),
        ("a length of 2^64 - 8, but only 3 bytes follow", too_long(u64::MAX - 7), "an error"),
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
        "string: eight bytes with the length, then that many bytes of UTF-8, unchanged",
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
fn task_1_string_of_100_000_bytes() {
    let long = "ü".repeat(50_000);
    let bytes = string(&long);
    let found = calmly("string", || Reader::new(&bytes, FILE).string("text").map(str::to_owned));
    assert!(
        found.is_ok_and(|found| found == long),
        "string of 100,000 bytes, such as a chat template: the text was refused or changed, \
         expected the same text"
    );
}

/// Returns a header with these fields, followed by 600 more bytes.
pub(super) fn header(magic: &[u8], version: u32, tensors: u64, metadata: u64) -> Vec<u8> {
    [magic, &version.to_le_bytes(), &tensors.to_le_bytes(), &metadata.to_le_bytes(), &[0; 600]]
        .concat()
}

#[test]
fn task_1_headers() {
    parts_are_sound();
    let case = fixtures().case("task_1_header/versions");
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
        ("3 tensors in 40 bytes", header(&MAGIC, 3, 3, 0)[..24 + 40].to_vec(), "an error"),
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
fn task_1_header_rejects_bad_version_magic_or_length() {
    parts_are_sound();
    let case = fixtures().case("task_1_header/versions");
    let file = |name: &str| {
        hex(&list(&case, "files")
            .iter()
            .find(|file| file["name"] == name)
            .expect("the fixture has this file")["bytes"])
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
    refused(
        "a file that begins with line feeds and a byte of 255",
        &header(b"\n\n\xff\n", 3, 0, 0),
        &["magic", "GGUF"],
        Reader::header,
    );
    let whole = header(&MAGIC, 3, 0, 0);
    for n in 0..24 {
        refused(&format!("a file of {n} bytes"), &whole[..n], &[], Reader::header);
    }
    assert_eq!(
        outcome("a file without entries and tensors", &whole[..24], Reader::header),
        "Header { version: 3, tensors: 0, metadata: 0 }, then at 24"
    );
}
