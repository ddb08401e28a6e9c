//! Week 2, day 2, task 2: metadata.

use tiny_llm::week2::gguf::{
    metadata::{read_array, read_metadata, read_value},
    reader::Reader,
};
use tiny_llm_formats::gguf::{Array, Value};
use tiny_llm_harness::{
    check::{Lines, assert_answer},
    fixtures::read,
};

use super::{
    FILE, assert_lines, calmly, entry, fixtures, followed, hex, list, outcome, refused, string,
    text,
};

#[test]
fn task_2_read_value_of_every_type() {
    let case = fixtures().case("task_2_values/each_type");
    let lines = list(&case, "values").iter().map(|value| {
        let (bytes, type_id) = (hex(&value["bytes"]), read::<u32>(&value["type"]));
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
fn task_2_read_array_of_every_type() {
    let case = fixtures().case("task_2_arrays/each_type");
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
    let lines = arrays.chain([(
        format!("an empty array of strings: {found}"),
        "an empty array of strings: String([]), then at 12".to_owned(),
    )]);
    assert_lines("read_array: each type of elements, followed by other bytes", lines);
}

#[test]
fn task_2_read_value_of_an_array() {
    let bytes = [2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
    let found = outcome("an array", &followed(&bytes), |r| read_value(r, 9, "metadata k"));
    assert_answer(
        "read_value of type 9, two elements of type 2",
        &found,
        &"Array(U16([513, 1027])), then at 16".to_owned(),
    );
}

#[test]
fn task_2_read_metadata_entries() {
    let case = fixtures().case("task_2_metadata/as_a_converter_writes_it");
    let file = hex(case.value("file"));
    let mut reader = Reader::new(&file[24..], FILE);
    let metadata =
        calmly("read_metadata", || read_metadata(&mut reader, case.count("count"), FILE));
    let metadata = metadata.unwrap_or_else(|e| {
        panic!("read_metadata: these entries are valid, but they were refused: {e}")
    });
    let mut found: Vec<_> =
        metadata.iter().map(|(key, value)| format!("{key} = {value:?}")).collect();
    found.push(format!("then {} bytes are left", reader.remaining()));
    let expected = list(&case, "entries")
        .iter()
        .map(text)
        .chain(["then 0 bytes are left".to_owned()])
        .collect();
    assert_answer("read_metadata: eleven entries", &Lines(found), &Lines(expected));
    assert_eq!(
        metadata.file(),
        FILE,
        "Metadata::file must return the file's name, for error messages"
    );
}

#[test]
fn task_2_read_metadata_keeps_keys_and_strings_unchanged() {
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
    assert_eq!(
        read, expected,
        "read_metadata with keys that differ only in case, and a key with spaces"
    );
}

#[test]
fn task_2_accepts_empty_key_nan_and_repeated_strings() {
    let nan = f32::NAN.to_le_bytes();
    let bytes = [entry("", 0, &[7]), entry("nan", 6, &nan)].concat();
    let read = || read_metadata(&mut Reader::new(&bytes, FILE), 2, FILE);
    let found = calmly("read_metadata", read).unwrap_or_else(|error| {
        panic!("an empty key and a NaN are valid, but they were refused: {error}")
    });
    let is_nan = |value: &Value| matches!(value, Value::F32(x) if x.is_nan());
    let found: Vec<_> = found.iter().map(|(key, value)| (key.to_owned(), value)).collect();
    assert!(
        matches!(&found[..], [(empty, Value::U8(7)), (_, x)] if empty.is_empty() && is_nan(x)),
        "read_metadata of the entries \"\" = 7 and \"nan\" = NaN: found {found:?}"
    );
    let texts: Vec<String> = (0..600).map(|i| format!("token {}", i % 500)).collect();
    let body: Vec<u8> = texts.iter().flat_map(|text| string(text)).collect();
    let bytes = [&8u32.to_le_bytes()[..], &600u64.to_le_bytes(), &body].concat();
    let found = calmly("read_array", || read_array(&mut Reader::new(&bytes, FILE), "tokens"));
    assert!(
        matches!(found, Ok(Array::String(found)) if found == texts),
        "read_array of 600 strings, a hundred of them twice: the array was refused or changed, \
         expected the same strings"
    );
}

#[test]
fn task_2_read_metadata_rejects_invalid_entries() {
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
        ("a bool of 2", entry("a.key", 7, &[2]), &["a.key", "2"]),
        (
            "a bool of 255 in an array",
            entry("a.key", 9, &array(7, 2, &[1, 255])),
            &["a.key", "255"],
        ),
        (
            "an array with elements of type 14",
            entry("a.key", 9, &array(14, 1, &[0; 8])),
            &["a.key", "14"],
        ),
        (
            "an array of arrays",
            entry("a.key", 9, &array(9, 1, &array(4, 1, &number(1)))),
            &["a.key", "array"],
        ),
        ("an empty array of arrays", entry("a.key", 9, &array(9, 0, &[])), &["a.key", "array"]),
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
        (
            "5 numbers of 4 bytes, but only 16 bytes follow",
            entry("a.key", 9, &array(4, 5, &[0; 16])),
            &["a.key", "5"],
        ),
        (
            "10 strings, but only 40 bytes follow",
            entry("a.key", 9, &array(8, 10, &[0; 40])),
            &["a.key", "10"],
        ),
        ("a key with a line feed", entry("a\nkey", 13, &number(1)), &["13"]),
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
        ("the file ends inside a value", entry("a.key", 10, &[0; 7]), &["a.key", "7"]),
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
        // All but the last are invalid by themselves, so the valid entry before them has another
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

#[test]
fn task_2_no_entries_and_empty_arrays() {
    let bytes = followed(&[]);
    let found = outcome("no entry", &bytes, |r| {
        Ok(read_metadata(r, 0, FILE)?.iter().map(|(key, _)| key.to_owned()).collect::<Vec<_>>())
    });
    assert_eq!(found, "[], then at 0", "read_metadata of 0 entries, followed by other bytes");
    let names = ["U8", "I8", "U16", "I16", "U32", "I32", "F32", "Bool", "String"];
    let types = (0..).zip(names).chain([(10, "U64"), (11, "I64"), (12, "F64")]);
    let lines = types.map(|(type_id, name): (u32, _)| {
        let bytes = followed(&[&type_id.to_le_bytes()[..], &[0; 8]].concat());
        let found = outcome(name, &bytes, |r| read_array(r, "metadata k"));
        let what = format!("an empty array of type {type_id}");
        (format!("{what}: {found}"), format!("{what}: {name}([]), then at 12"))
    });
    assert_lines("read_array of empty arrays, followed by other bytes", lines);
}

#[test]
fn task_2_read_metadata_rejects_bad_entry_at_any_index() {
    let good = |i: usize| entry(&format!("key {i}"), 4, &7u32.to_le_bytes());
    for bad in 0..4 {
        let entries: Vec<u8> =
            (0..4).flat_map(|i| if i == bad { entry("a.key", 7, &[2]) } else { good(i) }).collect();
        let what = format!("four entries, where entry {bad} is a bool of 2");
        refused(&what, &entries, &["a.key", "2"], |r| read_metadata(r, 4, FILE));
        // Only the requested number is read. What follows is something else.
        let what = format!("read_metadata of the first {bad} of four entries");
        let found = outcome(&what, &entries, |r| Ok(read_metadata(r, bad, FILE)?.iter().count()));
        let end: usize = (0..bad).map(|i| good(i).len()).sum();
        assert_eq!(
            found,
            format!("{bad}, then at {end}"),
            "{what}: (number of entries read, position of the reader)"
        );
    }
    let entries = [good(1), good(2), good(1)].concat();
    refused("the same key twice, with another key between", &entries, &["key 1"], |r| {
        read_metadata(r, 3, FILE)
    });
    refused(
        "three entries expected, but only two in the file",
        &entries[..2 * good(1).len()],
        &[],
        |r| read_metadata(r, 3, FILE),
    );
}

#[test]
fn task_2_rejects_values_truncated_at_any_byte() {
    let fixtures = fixtures();
    let case = fixtures.case("task_2_values/each_type");
    for value in list(&case, "values") {
        let bytes = hex(&value["bytes"]);
        let type_id: u32 = read(&value["type"]);
        for n in 0..bytes.len() {
            let what = format!(
                "read_value of only the first {n} of {} bytes of a value of type {type_id}",
                bytes.len()
            );
            let found = outcome(&what, &bytes[..n], |r| read_value(r, type_id, "metadata k"));
            assert_eq!(found, "an error", "{what}");
        }
    }
    let case = fixtures.case("task_2_arrays/each_type");
    for value in list(&case, "values") {
        let bytes = hex(&value["bytes"]);
        for n in 0..bytes.len() {
            let what = format!(
                "read_array of only the first {n} of {} bytes of an array: {}",
                bytes.len(),
                value["is"]
            );
            let found = outcome(&what, &bytes[..n], |r| read_array(r, "metadata k"));
            assert_eq!(found, "an error", "{what}");
        }
    }
}
