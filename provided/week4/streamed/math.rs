//! Arithmetic that `core` lacks. It uses only sums, products and quotients of f32, so that every
//! machine gets the same bits.

/// Rounds to the nearest integer, ties to even. Returns 0 for NaN. Works for magnitudes below 2²².
#[must_use]
pub fn round(x: f32) -> i32 {
    // All f32 numbers near this constant are integers, so adding it rounds.
    const UP: f32 = 12_582_912.0;
    (x + UP - UP) as i32
}

/// Returns eˣ, with a relative error of about 10⁻⁶.
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

/// Returns √x for x ≥ 0, with a relative error of about 10⁻⁷.
#[must_use]
pub fn sqrt(x: f32) -> f32 {
    if x == 0.0 {
        return 0.0;
    }
    // Half the exponent is a good first guess. Each step doubles the number of correct digits.
    let mut y = f32::from_bits((x.to_bits() >> 1) + 0x1fbd_1df5);
    for _ in 0..4 {
        y = 0.5 * (y + x / y);
    }
    y
}

/// Returns x · σ(x).
#[must_use]
pub fn silu(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// Computes RMSNorm: `x [E]` divided by its root mean square, times `weight [E]`. The result is all
/// NaN if the sum of squares is NaN or overflows.
pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let squares: f32 = x.iter().map(|x| x * x).sum();
    let finite = squares.is_finite();
    let root = if finite { sqrt(squares / x.len() as f32 + eps) } else { f32::NAN };
    for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
        *out = x / root * weight;
    }
}

/// Rotates each head of `x [heads, D]`, in the half-split layout. `turn` holds one position's
/// `D / 2` cosines, then its `D / 2` sines.
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
