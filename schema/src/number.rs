//! Parses numbers digit by digit.
//!
//! A number has at most 15 digits before its point, 15 after it, and two in its exponent. A number
//! with a bound has at most 15 digits in total, as many as a double distinguishes, and no exponent.
//! A whole number has neither point nor exponent.

use std::cmp::Ordering::{self, Equal, Greater, Less};

/// Maximum number of digits on each side of the point, or in total if the number has a bound.
const MOST: u8 = 15;
/// Maximum number of digits in an exponent.
const MOST_POWER: u8 = 2;
/// Maximum `multipleOf`.
pub(crate) const MOST_DIVISOR: u32 = 1000;

/// A bound for numbers.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    negative: bool,
    /// Digits before the point, at least one, without leading zeros.
    whole: Vec<u8>,
    /// Digits after the point, without trailing zeros.
    fraction: Vec<u8>,
    /// Whether the bound itself is allowed.
    inclusive: bool,
}

impl Bound {
    pub(crate) fn new(number: &serde_json::Number, inclusive: bool) -> Self {
        let text = match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(whole), ..) => whole.to_string(),
            (_, Some(whole), _) => whole.to_string(),
            // Rust formats floats without exponents.
            (.., float) => float.unwrap_or_default().to_string(),
        };
        let digits = text.trim_start_matches('-');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0').bytes().collect();
        let negative = text.starts_with('-') && digits.bytes().any(|byte| byte > b'0');
        Self { negative, whole: whole.bytes().collect(), fraction, inclusive }
    }
}

/// Constraints on numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers {
    /// Whether only whole numbers are allowed.
    pub(crate) whole: bool,
    pub(crate) least: Vec<Bound>,
    pub(crate) most: Vec<Bound>,
    /// Numbers must be multiples of this. 1 allows any number.
    pub(crate) divisor: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Start,
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

/// The state after the first characters of a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    place: Place,
    negative: bool,
    /// Number of digits so far: before the point, after it, and in the exponent.
    digits: [u8; 3],
    /// For each bound, how the digits so far compare with the bound's. Signs are ignored.
    sides: Vec<Ordering>,
    rest: u32,
}

impl Numbers {
    fn bounds(&self) -> impl Iterator<Item = &Bound> {
        self.least.iter().chain(&self.most)
    }

    fn is_bounded(&self) -> bool {
        !self.least.is_empty() || !self.most.is_empty()
    }

    pub(crate) fn start(&self) -> State {
        let sides = self.bounds().map(|_| Equal).collect();
        State { place: Place::Start, negative: false, digits: [0; 3], sides, rest: 0 }
    }

    pub(crate) fn next(&self, state: &State, byte: u8) -> Option<State> {
        use Place::{Exponent, Fraction, Minus, Point, Power, Sign, Start, Whole, Zero};
        let digit = byte.is_ascii_digit();
        let [whole, fraction, power] = state.digits;
        let room = if self.is_bounded() { whole + fraction < MOST } else { fraction < MOST };
        let (points, powers) = (!self.whole, !self.whole && !self.is_bounded());
        let place = match (state.place, byte) {
            (Start, b'-') => Minus,
            (Start | Minus, b'0') => Zero,
            (Start | Minus, b'1'..=b'9') => Whole,
            (Whole, _) if digit && whole < MOST => Whole,
            (Zero | Whole, b'.') if points && room => Point,
            (Point | Fraction, _) if digit && room => Fraction,
            (Zero | Whole | Fraction, b'e' | b'E') if powers => Exponent,
            (Exponent, b'+' | b'-') => Sign,
            (Exponent | Sign | Power, _) if digit && power < MOST_POWER => Power,
            _ => return None,
        };
        let mut next = State { place, ..state.clone() };
        match place {
            Minus => next.negative = true,
            Zero | Whole => {
                for (side, bound) in next.sides.iter_mut().zip(self.bounds()) {
                    *side = match bound.whole.get(usize::from(whole)) {
                        None => Greater,
                        Some(other) => side.then(byte.cmp(other)),
                    };
                }
                next.digits[0] += 1;
                next.rest = (state.rest * 10 + u32::from(byte - b'0')) % self.divisor.max(1);
            }
            Point => next.sides = self.after_whole(state),
            Fraction => {
                for (side, bound) in next.sides.iter_mut().zip(self.bounds()) {
                    let other = bound.fraction.get(usize::from(fraction)).unwrap_or(&b'0');
                    *side = side.then(byte.cmp(other));
                }
                next.digits[1] += 1;
            }
            Power => next.digits[2] += 1,
            Start | Exponent | Sign => {}
        }
        Some(next)
    }

    /// Returns how a number compares with each bound if no further digit comes before the point.
    fn after_whole(&self, state: &State) -> Vec<Ordering> {
        let digits = usize::from(state.digits[0]);
        let side = |(side, bound): (&Ordering, &Bound)| digits.cmp(&bound.whole.len()).then(*side);
        state.sides.iter().zip(self.bounds()).map(side).collect()
    }

    pub(crate) fn is_end(&self, state: &State) -> bool {
        use Place::{Fraction, Power, Whole, Zero};
        let sides = match state.place {
            Zero | Whole => self.after_whole(state),
            Fraction | Power => state.sides.clone(),
            _ => return false,
        };
        let digits = usize::from(state.digits[1]);
        let mut sides = sides.into_iter().zip(self.bounds()).map(|(side, bound)| {
            // If all digits so far are equal, a bound with more digits is larger, because it has no
            // trailing zeros.
            let side = side.then(digits.min(bound.fraction.len()).cmp(&bound.fraction.len()));
            let value = match (state.negative, bound.negative) {
                (false, false) => side,
                (true, true) => side.reverse(),
                (false, true) => Greater,
                // −0 equals 0.
                (true, false) if side == Equal && bound.whole == b"0" => {
                    if bound.fraction.is_empty() { Equal } else { Less }
                }
                (true, false) => Less,
            };
            (value, bound.inclusive)
        });
        let fits = |value, wrong, inclusive| value != wrong && (value != Equal || inclusive);
        let above = sides.by_ref().take(self.least.len()).all(|(v, i)| fits(v, Less, i));
        above && sides.all(|(v, i)| fits(v, Greater, i)) && state.rest == 0
    }
}
