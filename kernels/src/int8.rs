//! Quantized activations, in super-blocks.

/// Number of activations in a super-block, which is the number of weights in the longest blocks
/// (K-quants).
pub const SUPER_BLOCK: usize = 256;
/// Smallest number of activations that share a scale, which is the number of weights in the
/// shortest blocks.
pub const BLOCK: usize = 32;
/// Number of activations per stored sum: the smallest number of weights that share a scale (16 in
/// `Q6_K`).
pub const SUM: usize = 16;

/// [`SUPER_BLOCK`] activations as int8: an activation is its element of `values` times its block's
/// scale. If a row's length is not a multiple of [`SUPER_BLOCK`], its last super-block is padded
/// with zeros. If an activation is NaN or infinite, its block's scale is NaN, and so is every
/// product with the block.
#[derive(Debug, Clone, PartialEq)]
#[repr(C, align(64))]
pub struct Int8SuperBlock {
    /// Values in −127…127.
    pub values: [i8; SUPER_BLOCK],
    /// The sum of every [`SUM`] values, for formats whose weights have an offset or a minimum.
    pub sums: [i16; SUPER_BLOCK / SUM],
    /// One scale for every [`BLOCK`] values. A scale that the whole super-block shares is stored
    /// eight times.
    pub scales: [f32; SUPER_BLOCK / BLOCK],
}

impl Default for Int8SuperBlock {
    fn default() -> Self {
        Self {
            values: [0; SUPER_BLOCK],
            sums: [0; SUPER_BLOCK / SUM],
            scales: [0.0; SUPER_BLOCK / BLOCK],
        }
    }
}

/// Returns the scale of activations whose largest magnitude is `absmax`: NaN if `absmax` is NaN or
/// infinite.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[inline(always)]
pub(crate) fn scale(absmax: f32) -> f32 {
    if absmax.is_finite() { absmax / 127.0 } else { f32::NAN }
}

/// Returns the largest of `magnitudes`. If one of them is NaN, returns NaN, which `f32::max` would
/// not. Compares bits: floats without a sign have the same order as their bits, and every NaN comes
/// after infinity.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[inline(always)]
pub(crate) fn largest(magnitudes: impl IntoIterator<Item = f32>) -> f32 {
    f32::from_bits(magnitudes.into_iter().fold(0, |most, x| most.max(x.to_bits())))
}

/// Calls `quantize` for every [`SUPER_BLOCK`] values of a row. If fewer are left at the end, pads
/// them with zeros.
///
/// This function is always inlined into its caller, so that `quantize` may use the caller's
/// instructions.
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
#[inline(always)]
pub(crate) fn each_super_block(
    x: &[f32],
    super_blocks: &mut [Int8SuperBlock],
    quantize: impl Fn(&[f32; SUPER_BLOCK], &mut Int8SuperBlock),
) {
    for (x, super_block) in x.chunks(SUPER_BLOCK).zip(super_blocks) {
        if let Ok(x) = x.try_into() {
            quantize(x, super_block);
        } else {
            let mut filled = [0.0; SUPER_BLOCK];
            filled[..x.len()].copy_from_slice(x);
            quantize(&filled, super_block);
        }
    }
}
