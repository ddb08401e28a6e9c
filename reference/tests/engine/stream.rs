//! Allocations of `TextStream` (week 1 day 6) for bytes that are not text.

use tiny_llm_harness::allocations::count;
use tiny_llm_reference::week1::stream::TextStream;

/// Each input consists of bytes that belong to no character, or of incomplete characters. They
/// become U+FFFD. The text's buffer doubles when it is full, so there are few allocations.
#[test]
fn push_of_invalid_bytes_allocates_rarely() {
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
