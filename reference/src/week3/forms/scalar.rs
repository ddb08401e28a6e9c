//! Day 7. JSON's strings and numbers, byte by byte.
//!
//! Tasks here: week3-day7 task 1 (`Text::next`, `Number::next`, `Number::is_complete`). Everything
//! else is provided.

/// A set of bytes, as ranges that include both ends.
pub type Bytes = &'static [(u8, u8)];

/// The values that a continuation byte of a UTF-8 character may have.
pub const CONTINUATION: Bytes = &[(0x80, 0xbf)];
/// A hexadecimal digit, as in `\u00e9`.
pub const HEX: Bytes = &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')];
/// The allowed values of each of the six bytes of an escape from `\udc00` to `\udfff`. Such an
/// escape is the second half (low surrogate) of a character that needs two escapes.
pub const SECOND_HALF: [Bytes; 6] = [
    &[(b'\\', b'\\')],
    &[(b'u', b'u')],
    &[(b'D', b'D'), (b'd', b'd')],
    &[(b'C', b'F'), (b'c', b'f')],
    HEX,
    HEX,
];

/// The maximum number of digits on each side of a decimal point. Every JSON parser accepts a number
/// within this limit, because it lies well within a double's range.
pub const MOST_DIGITS: u8 = 15;
/// The maximum number of digits in an exponent: 10⁹⁹ fits into a double, and 10⁹⁹⁹ doesn't.
pub const MOST_EXPONENT_DIGITS: u8 = 2;

/// A place in a string, after its opening quotation mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Text {
    /// Between two characters.
    Plain,
    /// After a backslash.
    Escape,
    /// After `\u`.
    Unicode,
    /// After `\ud`. The next digit decides whether this escape is only half a character.
    UnicodeD,
    /// In the middle of a character. Holds the allowed values of each missing byte, in order.
    Missing(&'static [Bytes]),
    /// After the closing quotation mark.
    Closed,
}

impl Text {
    /// Returns the place after another byte, or `None` if this byte may not come next. The rules:
    ///
    /// - A string is UTF-8 as in RFC 3629: the shortest form, no surrogates U+D800 to U+DFFF,
    ///   nothing above U+10FFFF. It has no control characters (below 0x20).
    /// - After a backslash comes one of `"\/bfnrt`, or `u` and four hexadecimal digits.
    /// - Right after an escaped first half of a character (`\ud83d`) comes its second half
    ///   (`\ude00`). A second half must not come without a first half.
    #[must_use]
    pub fn next(self, byte: u8) -> Option<Self> {
        // SOLUTION week3-day7 task 1
        let text = match (self, byte) {
            (Self::Plain, b'"') => Self::Closed,
            (Self::Plain, b'\\') => Self::Escape,
            (Self::Plain, 0x20..=0x7f) => Self::Plain,
            (Self::Plain, 0xc2..=0xdf) => Self::Missing(&[CONTINUATION]),
            (Self::Plain, 0xe0) => Self::Missing(&[&[(0xa0, 0xbf)], CONTINUATION]),
            (Self::Plain, 0xed) => Self::Missing(&[&[(0x80, 0x9f)], CONTINUATION]),
            (Self::Plain, 0xe1..=0xef) => Self::Missing(&[CONTINUATION, CONTINUATION]),
            (Self::Plain, 0xf0) => Self::Missing(&[&[(0x90, 0xbf)], CONTINUATION, CONTINUATION]),
            (Self::Plain, 0xf1..=0xf3) => Self::Missing(&[CONTINUATION; 3]),
            (Self::Plain, 0xf4) => Self::Missing(&[&[(0x80, 0x8f)], CONTINUATION, CONTINUATION]),
            (Self::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Self::Plain,
            (Self::Escape, b'u') => Self::Unicode,
            (Self::Unicode, b'D' | b'd') => Self::UnicodeD,
            (Self::Unicode, byte) if contains(HEX, byte) => Self::Missing(&[HEX; 3]),
            (Self::UnicodeD, b'0'..=b'7') => Self::Missing(&[HEX; 2]),
            (Self::UnicodeD, b'8' | b'9' | b'A' | b'B' | b'a' | b'b') => {
                const REST: [Bytes; 8] = {
                    let [a, b, c, d, e, f] = SECOND_HALF;
                    [HEX, HEX, a, b, c, d, e, f]
                };
                Self::Missing(&REST)
            }
            (Self::Missing([first, rest @ ..]), byte) if contains(first, byte) => {
                if rest.is_empty() { Self::Plain } else { Self::Missing(rest) }
            }
            _ => return None,
        };
        Some(text)
        // END SOLUTION
    }
}

/// Returns whether `byte` is in the set `bytes`.
#[must_use]
pub fn contains(bytes: Bytes, byte: u8) -> bool {
    bytes.iter().any(|&(first, last)| (first..=last).contains(&byte))
}

/// A place in a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Number {
    /// Before the first byte.
    Start,
    /// After the minus sign.
    Minus,
    /// After a leading 0.
    Zero,
    /// After this many digits of the integer part. The first of them isn't 0.
    Whole(u8),
    /// After the point.
    Point,
    /// After this many digits of the fraction.
    Fraction(u8),
    /// After `e` or `E`.
    Exponent,
    /// After the exponent's sign.
    Sign,
    /// After this many digits of the exponent.
    Power(u8),
}

impl Number {
    /// Returns the place after another byte, or `None` if the byte isn't part of the number.
    ///
    /// A number has these parts, in this order:
    ///
    /// - Optionally `-`.
    /// - The integer part: `0`, or up to [`MOST_DIGITS`] digits that don't begin with 0.
    /// - Optionally a point and 1 to [`MOST_DIGITS`] digits.
    /// - Optionally `e` or `E`, optionally `+` or `-`, and 1 to [`MOST_EXPONENT_DIGITS`] digits.
    #[must_use]
    pub fn next(self, byte: u8) -> Option<Self> {
        // SOLUTION week3-day7 task 1
        let number = match (self, byte) {
            (Self::Start, b'-') => Self::Minus,
            (Self::Start | Self::Minus, b'0') => Self::Zero,
            (Self::Start | Self::Minus, b'1'..=b'9') => Self::Whole(1),
            (Self::Whole(n), b'0'..=b'9') if n < MOST_DIGITS => Self::Whole(n + 1),
            (Self::Zero | Self::Whole(_), b'.') => Self::Point,
            (Self::Point, b'0'..=b'9') => Self::Fraction(1),
            (Self::Fraction(n), b'0'..=b'9') if n < MOST_DIGITS => Self::Fraction(n + 1),
            (Self::Zero | Self::Whole(_) | Self::Fraction(_), b'E' | b'e') => Self::Exponent,
            (Self::Exponent, b'+' | b'-') => Self::Sign,
            (Self::Exponent | Self::Sign, b'0'..=b'9') => Self::Power(1),
            (Self::Power(n), b'0'..=b'9') if n < MOST_EXPONENT_DIGITS => Self::Power(n + 1),
            _ => return None,
        };
        Some(number)
        // END SOLUTION
    }

    /// Returns whether the bytes so far are a complete number. Even a complete number may continue:
    /// only the next byte shows whether it does.
    #[must_use]
    pub fn is_complete(self) -> bool {
        // SOLUTION week3-day7 task 1
        matches!(self, Self::Zero | Self::Whole(_) | Self::Fraction(_) | Self::Power(_))
        // END SOLUTION
    }
}
