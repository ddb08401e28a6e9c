//! What `core` lacks of arithmetic. Only sums, products and quotients of f32, so that
//! every machine gets the same bits.

/// The nearest whole number, and of two equally near ones the even one; 0 for what is no number.
///
/// For numbers below 2²² in size.
#[must_use]
pub fn round(x: f32) -> i32 {
    // So far up, f32 holds whole numbers alone: adding rounds.
    const UP: f32 = 12_582_912.0;
    (x + UP - UP) as i32
}

/// eˣ, right to about 1 part in 10⁶.
#[must_use]
pub fn exp(x: f32) -> f32 {
    if x < -87.0 {
        return 0.0;
    }
    if x > 88.0 {
        return f32::INFINITY;
    }
    // x = n · ln 2 + r with |r| ≤ ln 2 / 2: then eˣ = 2ⁿ · eʳ.
    let n = round(x * core::f32::consts::LOG2_E);
    let r = x - n as f32 * 0.693_359_4 + n as f32 * 2.121_944_4e-4;
    let mut sum = 1.0;
    for k in [6.0, 5.0, 4.0, 3.0, 2.0, 1.0] {
        sum = 1.0 + sum * r / k;
    }
    sum * f32::from_bits(((127 + n) as u32) << 23)
}

/// √x, right to about 1 part in 10⁷, for x ≥ 0.
#[must_use]
pub fn sqrt(x: f32) -> f32 {
    if x == 0.0 {
        return 0.0;
    }
    // Half the exponent is a good guess; each step doubles the digits that are right.
    let mut y = f32::from_bits((x.to_bits() >> 1) + 0x1fbd_1df5);
    for _ in 0..4 {
        y = 0.5 * (y + x / y);
    }
    y
}

/// x · σ(x)
#[must_use]
pub fn silu(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// RMSNorm: `x [E]` divided by the root of its mean square, times `weight [E]`. All NaN if the sum of
/// squares is NaN or too large for f32.
pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let squares: f32 = x.iter().map(|x| x * x).sum();
    let finite = squares.is_finite();
    let root = if finite { sqrt(squares / x.len() as f32 + eps) } else { f32::NAN };
    for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
        *out = x / root * weight;
    }
}

/// Turns each head of `x [heads, D]` in the half-split form, by one position's `turn`: `D / 2`
/// cosines, then as many sines.
pub fn rotate(x: &mut [f32], turn: &[f32]) {
    let (cos, sin) = turn.split_at(turn.len() / 2);
    for head in x.chunks_exact_mut(turn.len()) {
        let (first, second) = head.split_at_mut(cos.len());
        for i in 0..cos.len() {
            let (a, b) = (first[i], second[i]);
            first[i] = a * cos[i] - b * sin[i];
            second[i] = b * cos[i] + a * sin[i];
        }
    }
}
