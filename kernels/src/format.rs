//! The properties of integer formats that the kernels of every instruction set need at compile
//! time. Each format's own file has the layout of its bits.

use tiny_llm_formats::gguf::TensorType;

/// A format whose weights are integers and scales.
pub trait Format {
    /// The tensor type, which determines the sizes of the format's blocks.
    const TYPE: TensorType;
    /// Number of weights that share a scale: 16 or 32.
    const PER_SCALE: usize;
    /// How a code of 0 maps to a weight.
    const ZERO: Zero;
    /// The largest code.
    const HIGHEST: u8;
}

/// How a code of 0 maps to a weight: with an offset that all codes share, or a minimum per scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zero {
    /// All codes have this offset: a weight is `scale · (code − offset)`.
    Offset(u8),
    /// Each scale has a minimum: a weight is `scale · code + minimum`, or in formats with blocks of
    /// 256, `scale · code − minimum`.
    Minimum,
}

/// Returns whether the activations for a format have one scale per block of 32. This is the case if
/// the format's weights are in blocks of 32. For blocks of 256 weights, all activations of a
/// super-block share one scale.
pub const fn scale_per_block<F: Format>() -> bool {
    F::TYPE.block_len() == 32
}

/// Returns whether a block's scale is a power of two, stored in one byte, as in `MXFP4`. In all
/// other formats, it is a half-precision number.
pub const fn power_of_two<F: Format>() -> bool {
    matches!(F::TYPE, TensorType::MXFP4)
}

macro_rules! formats {
    ($($name:ident: $per_scale:literal, $zero:expr, $highest:literal;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`, see [`Format`].")]
            #[allow(non_camel_case_types, reason = "these are the field's names")]
            #[derive(Debug, Clone, Copy)]
            pub struct $name;

            impl Format for $name {
                const TYPE: TensorType = TensorType::$name;
                const PER_SCALE: usize = $per_scale;
                const ZERO: Zero = $zero;
                const HIGHEST: u8 = $highest;
            }
        )*
    };
}

formats! {
    Q4_0: 32, Zero::Offset(8), 15;
    Q4_1: 32, Zero::Minimum, 15;
    Q5_0: 32, Zero::Offset(16), 31;
    Q5_1: 32, Zero::Minimum, 31;
    // The kernels for many rows add 128 to the signed codes of the file.
    Q8_0: 32, Zero::Offset(128), 255;
    // The kernels look codes up in a table. Each entry is twice the unscaled weight, plus 12.
    MXFP4: 32, Zero::Offset(12), 24;
    Q2_K: 16, Zero::Minimum, 3;
    Q3_K: 16, Zero::Offset(4), 7;
    Q4_K: 32, Zero::Minimum, 15;
    Q5_K: 32, Zero::Minimum, 31;
    Q6_K: 16, Zero::Offset(32), 63;
}
