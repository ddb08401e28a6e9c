//! function: Text::next
//! how: places in turn, ranges of UTF-8 as a table
        const FIRST: [(u8, u8, &[Bytes]); 8] = [
            (0xc2, 0xdf, &[CONTINUATION]),
            (0xe0, 0xe0, &[&[(0xa0, 0xbf)], CONTINUATION]),
            (0xe1, 0xec, &[CONTINUATION; 2]),
            (0xed, 0xed, &[&[(0x80, 0x9f)], CONTINUATION]),
            (0xee, 0xef, &[CONTINUATION; 2]),
            (0xf0, 0xf0, &[&[(0x90, 0xbf)], CONTINUATION, CONTINUATION]),
            (0xf1, 0xf3, &[CONTINUATION; 3]),
            (0xf4, 0xf4, &[&[(0x80, 0x8f)], CONTINUATION, CONTINUATION]),
        ];
        match self {
            Self::Closed => None,
            Self::Plain if byte == b'"' => Some(Self::Closed),
            Self::Plain if byte == b'\\' => Some(Self::Escape),
            Self::Plain if byte < 0x80 => (byte >= b' ').then_some(Self::Plain),
            Self::Plain => {
                let row = FIRST.iter().find(|(low, high, _)| (*low..=*high).contains(&byte));
                row.map(|&(_, _, rest)| Self::Missing(rest))
            }
            Self::Escape if byte == b'u' => Some(Self::Unicode),
            Self::Escape => b"\"\\/bfnrt".contains(&byte).then_some(Self::Plain),
            Self::Unicode if !byte.is_ascii_hexdigit() => None,
            Self::Unicode if byte.eq_ignore_ascii_case(&b'd') => Some(Self::UnicodeD),
            Self::Unicode => Some(Self::Missing(&[HEX, HEX, HEX])),
            Self::UnicodeD => match byte.to_ascii_lowercase() {
                b'0'..=b'7' => Some(Self::Missing(&[HEX, HEX])),
                b'8' | b'9' | b'a' | b'b' => Some(Self::Missing(&[
                    HEX,
                    HEX,
                    SECOND_HALF[0],
                    SECOND_HALF[1],
                    SECOND_HALF[2],
                    SECOND_HALF[3],
                    HEX,
                    HEX,
                ])),
                _ => None,
            },
            Self::Missing(sets) => {
                let (first, rest) = sets.split_first()?;
                contains(first, byte)
                    .then(|| if rest.is_empty() { Self::Plain } else { Self::Missing(rest) })
            }
        }
