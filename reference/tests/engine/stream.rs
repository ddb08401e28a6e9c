//! Text as it comes, week 1 day 6: what it takes where nothing is text.

use tiny_llm_harness::allocations::count;
use tiny_llm_reference::week1::stream::TextStream;

/// As a file or a model's garbage has it: no byte of it is part of a character, or each begins one
/// that goes no further. It becomes what it always became, and nothing is moved for each of them:
/// what grows is one text, by doubling.
#[test]
fn broken_bytes_cost_no_more_than_they_are() {
    for (name, unit, signs) in [
        ("bytes that begin no character", &b"\xff"[..], "\u{fffd}"),
        ("beginnings without an end", b"\xe6\x97a", "\u{fffd}a"),
        ("ends without a beginning", b"\x97\x97\n", "\u{fffd}\u{fffd}\n"),
    ] {
        let bytes = unit.repeat(100_000);
        let mut stream = TextStream::default();
        let (allocations, text) = count(|| stream.push(&bytes));
        assert!(text == signs.repeat(100_000), "{name}: another text");
        assert_eq!(stream.finish(), "", "{name}");
        assert!(allocations <= 40, "{name}: {allocations} allocations for {} bytes", bytes.len());
    }
}
