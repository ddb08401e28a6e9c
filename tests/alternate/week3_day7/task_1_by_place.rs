//! function: Number::next
//! how: each place says what it takes
        let digit = byte.is_ascii_digit();
        let (point, e) = (byte == b'.', byte.eq_ignore_ascii_case(&b'e'));
        match self {
            Self::Start | Self::Minus => match byte {
                b'-' if self == Self::Start => Some(Self::Minus),
                b'0' => Some(Self::Zero),
                _ => digit.then_some(Self::Whole(1)),
            },
            Self::Zero | Self::Whole(_) if point => Some(Self::Point),
            Self::Zero | Self::Whole(_) | Self::Fraction(_) if e => Some(Self::Exponent),
            Self::Zero => None,
            Self::Whole(n) => (digit && n + 1 <= MOST_DIGITS).then(|| Self::Whole(n + 1)),
            Self::Point => digit.then_some(Self::Fraction(1)),
            Self::Fraction(n) => (digit && n + 1 <= MOST_DIGITS).then(|| Self::Fraction(n + 1)),
            Self::Exponent if matches!(byte, b'+' | b'-') => Some(Self::Sign),
            Self::Exponent | Self::Sign => digit.then_some(Self::Power(1)),
            Self::Power(n) => {
                (digit && n + 1 <= MOST_EXPONENT_DIGITS).then(|| Self::Power(n + 1))
            }
        }
