//! Week 2, day 2: error messages. Each must name the right numbers as found and as expected. It may
//! shorten a name, but must not change a value.

use std::fmt::Debug;

use anyhow::Result;
use tiny_llm::week2::gguf::{
    metadata::{read_array, read_metadata, read_value},
    reader::{Reader, shown},
    table::{alignment, check_places, read_tensor},
};
use tiny_llm_formats::gguf::{MAGIC, Value};
use tiny_llm_harness::messages::assert_tells;

use super::{
    FILE, assert_says, calmly, entry, metadata,
    task_1::header,
    task_3::{info, table_entry},
};

/// Checks that `read` fails on `bytes`, and that the message names the field, what was found and
/// what was expected.
#[track_caller]
fn check<'a, T: Debug>(
    what: &str,
    bytes: &'a [u8],
    field: &str,
    found: &[&str],
    expected: &[&str],
    read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
) {
    match calmly(what, || read(&mut Reader::new(bytes, FILE))) {
        Ok(value) => panic!("{what}: {value:?} was read, expected an error"),
        Err(error) => {
            assert_says(what, &error, &[field]);
            // The location in the message doesn't count as something found.
            let message = format!("{error:#}");
            let said = message.split_once(field).map_or(message.as_str(), |(_, said)| said);
            assert_tells(what, said, found, expected);
        }
    }
}

#[test]
fn task_1_take_error_names_remaining_and_requested_bytes() {
    let bytes: Vec<u8> = (0..90).collect();
    for (position, n) in [(0, 91), (80, 11), (90, 1), (57, 40), (89, 200), (0, usize::MAX)] {
        let what = format!("take({n}) at position {position} of 90 bytes");
        let (left, wanted) = ((90 - position).to_string(), n.to_string());
        check(&what, &bytes, "the field", &[&left], &[&wanted], |reader| {
            reader.take(position, "before")?;
            reader.take(n, "the field")
        });
    }
    let what = "number::<8> at position 3 of 5 bytes";
    check(what, &[1; 5], "a number", &["2"], &["8"], |reader| {
        reader.take(3, "before")?;
        reader.number::<8>("a number")
    });
    check("u32 of 3 bytes", &[1; 3], "a number", &["3"], &["4"], |r| r.u32("a number"));
    check("u64 of 7 bytes", &[1; 7], "a number", &["7"], &["8"], |r| r.u64("a number"));
}

/// The message may name the largest possible count, or the number of bytes that are left.
#[test]
fn task_1_count_error_names_how_many_items_fit() {
    for (count, each, follow) in
        [(7, 1, 5), (4, 32, 70), (1000, 13, 600), (3, 8, 20), (1 << 40, 8, 33), (u64::MAX, 4, 41)]
    {
        let what = format!(
            "a count of {count} items of at least {each} bytes, followed by {follow} bytes"
        );
        let bytes = [&count.to_le_bytes()[..], &vec![7; follow]].concat();
        let Err(error) = calmly(&what, || Reader::new(&bytes, FILE).count(each, "things")) else {
            panic!("{what}: returned no error, but this must be an error")
        };
        let message = format!("{error:#}");
        assert_tells(&what, &message, &[&count.to_string()], &[]);
        let (room, bytes) = ((follow / each).to_string(), format!("{follow} byte"));
        let (_, expected) = message.rsplit_once("expected").unwrap_or(("", &message));
        let mut numbers = expected.split(|c: char| !c.is_ascii_digit());
        let of_bytes = format!("{follow} of ");
        assert!(
            numbers.any(|number| number == room)
                || expected.contains(&bytes)
                || expected.contains(&of_bytes),
            "{what}: {room} items fit in {follow} bytes; the message must name one of these two \
             numbers as expected\n  message  {message:?}"
        );
    }
    // A partial item doesn't count.
    for (count, each, follow, fits) in [
        (2, 8, 15, false),
        (2, 8, 16, true),
        (2, 10, 15, false),
        (1, 10, 15, true),
        (3, 2, 5, false),
    ] {
        let what = format!(
            "a count of {count} items of at least {each} bytes, followed by {follow} bytes"
        );
        let bytes = [&u64::to_le_bytes(count)[..], &vec![7; follow]].concat();
        let found = calmly(&what, || Reader::new(&bytes, FILE).count(each, "things").is_ok());
        assert!(
            found == fits,
            "{what}: found {found}, expected {fits} (accepted or not): a partial item does not \
             count"
        );
    }
}

#[test]
fn task_1_header_error_names_found_and_expected() {
    for magic in [b"PK\x03\x04", b"GGML", b"gguf", b"GGUf", b"gGUF", b"GGUX", b"FUGG"] {
        let name = magic.escape_ascii().to_string();
        let what = format!("a file that begins with {name:?}");
        let letters: String = name.chars().take_while(char::is_ascii_alphabetic).collect();
        let Err(error) =
            calmly(&what, || Reader::new(&header(magic, 3, 0, 0), FILE).header().map(drop))
        else {
            panic!("{what}: returned no error, but this must be an error")
        };
        let message = format!("{error:#}");
        // Case matters: `gguf` is not GGUF.
        if let (Some(found), Some(expected)) = (message.find("found "), message.rfind("expected "))
        {
            let (first, second) = message.split_at(found.max(expected));
            let (of_found, of_expected) =
                if found < expected { (first, second) } else { (second, first) };
            assert!(
                of_found.contains(&letters) && of_expected.contains("GGUF"),
                "{what}: the message must name {letters:?} as found and \"GGUF\" as expected\n  \
                 message  {message:?}"
            );
        }
    }
    for version in [0, 1, 4, 5, 258, 770, 65_539, u32::MAX] {
        let what = format!("a file of version {version}");
        let bytes = header(&MAGIC, version, 0, 0);
        let found = version.to_string();
        check(&what, &bytes, "version", &[&found], &["2", "3"], Reader::header);
    }
    for version in [2u32, 3] {
        let what = format!("a big-endian file of version {version}");
        let bytes = header(&MAGIC, version.swap_bytes(), 0, 0);
        check(&what, &bytes, "version", &["big-endian"], &[], Reader::header);
    }
    // 18 tensors of 32 bytes fit in 600 bytes, or 46 entries of 13.
    for (tensors, entries, field, number) in
        [(19, 0, "tensors", "19"), (0, 47, "metadata", "47"), (19, 47, "tensors", "19")]
    {
        let what = format!("{tensors} tensors and {entries} metadata entries in 600 bytes");
        let bytes = header(&MAGIC, 3, tensors, entries);
        // The eight bytes of the other count follow the first.
        let bytes = if field == "tensors" { &bytes[..bytes.len() - 8] } else { &bytes[..] };
        check(&what, bytes, field, &[number], &[], Reader::header);
    }
}

#[test]
fn task_1_string_error_names_the_field() {
    let long = [&30u64.to_le_bytes()[..], b"abc"].concat();
    check(
        "a string with a length of 30, but only 3 bytes follow",
        &long,
        "the key",
        &[],
        &[],
        |r| r.string("the key"),
    );
    for bytes in [&b"ab\xffcd"[..], b"\xc3\x28", b"abcdefghi\xe6"] {
        let what = format!("a string of the bytes {}", bytes.escape_ascii());
        let file = [&(bytes.len() as u64).to_le_bytes()[..], bytes].concat();
        check(&what, &file, "the key", &[], &["UTF-8"], |r| r.string("the key"));
    }
}

#[test]
fn task_2_value_error_names_the_invalid_type_or_bool() {
    for type_id in [13u32, 14, 99, 1 << 16, u32::MAX] {
        let name = type_id.to_string();
        check(&format!("a value of type {type_id}"), &[0; 64], "metadata k", &[&name], &[], |r| {
            read_value(r, type_id, "metadata k")
        });
        let bytes = [&type_id.to_le_bytes()[..], &[0; 64]].concat();
        check(
            &format!("an array of elements of type {type_id}"),
            &bytes,
            "metadata k",
            &[&name],
            &[],
            |r| read_array(r, "metadata k"),
        );
    }
    for byte in [2u8, 7, 255] {
        let what = format!("a bool of {byte}");
        let name = byte.to_string();
        check(&what, &[byte; 8], "metadata k", &[&name], &["0", "1"], |r| {
            read_value(r, 7, "metadata k")
        });
        let bytes = [&7u32.to_le_bytes()[..], &3u64.to_le_bytes(), &[1, 0, byte]].concat();
        let what = format!("an array of bools 1, 0, {byte}");
        check(&what, &bytes, "metadata k", &[&name], &["0", "1"], |r| read_array(r, "metadata k"));
    }
    // A message must not name an array of arrays as expected.
    let nested = [&9u32.to_le_bytes()[..], &1u64.to_le_bytes(), &[0; 32]].concat();
    let what = "an array of arrays";
    check(what, &nested, "metadata k", &["array"], &[], |r| read_array(r, "metadata k"));
    let error = calmly(what, || read_array(&mut Reader::new(&nested, FILE), "metadata k"))
        .expect_err("read_array must refuse an array of arrays");
    let message = format!("{error:#}").to_lowercase();
    let expected = message.rsplit_once("expected ").map_or("", |(_, expected)| expected);
    let expected = expected.split("found ").next().unwrap_or_default();
    assert!(
        !expected.contains("array of arrays") && !expected.contains("arrays of arrays"),
        "{what}: the message must not say that an array of arrays is \
         expected\n  message  {message:?}"
    );
}

#[test]
fn task_2_read_metadata_error_names_the_key() {
    let twice =
        [entry("a.key", 0, &[1]), entry("b.key", 0, &[1]), entry("a.key", 0, &[2])].concat();
    check("metadata with a.key twice", &twice, "a.key", &["twice"], &[], |r| {
        read_metadata(r, 3, FILE)
    });
    let short = [entry("a.key", 0, &[1]), entry("b.key", 10, &[1; 5])].concat();
    check("metadata with only 5 of the 8 bytes of b.key", &short, "b.key", &["5"], &["8"], |r| {
        read_metadata(r, 2, FILE)
    });
    // A long key is shortened only in messages.
    let (long, strange) = ("k".repeat(300), "a\nb\"c\\d\u{7f}é");
    let bytes = [entry(&long, 0, &[1]), entry(strange, 0, &[2])].concat();
    let what =
        "metadata with a key of 300 letters and one with a line feed, a quote and a backslash";
    let found = calmly(what, || read_metadata(&mut Reader::new(&bytes, FILE), 2, FILE))
        .unwrap_or_else(|error| {
            panic!("{what}: these keys are valid, but they were refused: {error}")
        });
    for key in [long.as_str(), strange] {
        assert!(found.get(key).is_some(), "{what}: the key {:?} is missing or changed", shown(key));
    }
}

#[test]
fn task_3_read_tensor_keeps_names_unchanged() {
    let long = "blk.0.".repeat(40);
    let others = ["", "Blk.0.ATTN_Q.Weight", "a\nb", "\"quoted\"", "back\\slash"];
    for name in others.into_iter().chain([&*long, "\t", "a\u{0}b", " ü 🙂 ", "'"]) {
        let what = format!("a tensor called {:?}", shown(name));
        let bytes = table_entry(name, &[32], 0, 64);
        let found = calmly(&what, || read_tensor(&mut Reader::new(&bytes, FILE), 0))
            .unwrap_or_else(|error| panic!("{what}: this is valid, but it was refused: {error}"));
        assert!(
            found.name == name,
            "{what}: found the name {:?}, expected the same name as in the file: use `shown` only \
             in messages",
            found.name
        );
    }
}

#[test]
fn task_3_read_tensor_error_names_found_and_expected() {
    /// Name, bytes, what the message names as found, what it names as expected.
    type Bad = (&'static str, Vec<u8>, &'static [&'static str], &'static [&'static str]);
    let cases: [Bad; 7] = [
        ("five axes", table_entry("a.weight", &[1; 5], 0, 0), &["5"], &["1", "4"]),
        ("no axes", table_entry("a.weight", &[], 0, 0), &["0"], &["1", "4"]),
        ("type 31, which is no longer used", table_entry("a.weight", &[32], 31, 0), &["31"], &[]),
        ("type 23", table_entry("a.weight", &[256], 23, 0), &["23"], &[]),
        (
            "eight rows of 32 weights in blocks of 256",
            table_entry("a.weight", &[32, 8], 12, 0),
            &["32"],
            &["256"],
        ),
        ("a row of 48 in blocks of 32", table_entry("a.weight", &[48, 2], 8, 0), &["48"], &["32"]),
        (
            "the file ends inside the offset",
            table_entry("a.weight", &[32], 0, 0)[..35].to_vec(),
            &["3"],
            &["8"],
        ),
    ];
    for (what, bytes, found, expected) in cases {
        check(what, &bytes, "a.weight", found, expected, |r| read_tensor(r, 3));
    }
}

#[test]
fn task_3_check_places_error_names_tensor_and_offset() {
    let says =
        |what: &str, tensors: &[_], alignment, len, name: &str, found: &str, expected: &[&str]| {
            let error = calmly(what, || check_places(tensors, alignment, len, FILE))
                .expect_err("check_places must refuse these places");
            assert_says(what, &error, &[name]);
            assert_tells(what, &format!("{error:#}"), &[found], expected);
        };
    let two = [info("first", 0, 68), info("second", 64, 40)];
    says("the second tensor overlaps the first", &two, 32, 300, "second", "64", &[]);
    let two = [info("second", 160, 40), info("first", 0, 168)];
    says(
        "the second tensor overlaps the first, and is listed before it",
        &two,
        32,
        300,
        "second",
        "160",
        &[],
    );
    let two = [info("first", 0, 32), info("second", 33, 4)];
    says("an offset of 33", &two, 32, 300, "second", "33", &["32"]);
    says(
        "an offset of 40 with an alignment of 64",
        &[info("only", 40, 4)],
        64,
        300,
        "only",
        "40",
        &["64"],
    );
    says(
        "36 bytes at offset 192 of 200 bytes of data",
        &[info("only", 192, 36)],
        32,
        200,
        "only",
        "192",
        &["200"],
    );
    for value in [24u32, 0, 33, u32::MAX] {
        let what = format!("general.alignment = {value}");
        let found = calmly(&what, || alignment(&metadata(Some(Value::U32(value)))));
        let Err(error) = found else {
            panic!("{what}: returned no error, but this must be an error")
        };
        assert_says(&what, &error, &["general.alignment"]);
        assert_tells(&what, &format!("{error:#}"), &[&value.to_string()], &[]);
    }
}
