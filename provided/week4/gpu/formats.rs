//! Day 5. WGSL functions that read f32, f16 and bf16 weights. The functions have the same names as
//! those for block formats in [`mat_vec`](crate::week4::gpu::mat_vec). They treat weights as blocks
//! of 32 with a scale of 1. This file also has the provided kernels of a language model.

/// WGSL functions that read f32 weights.
pub const F32: &str = "
fn scale(block: u32) -> f32 { return 1.0; }
fn four(block: u32, i: u32) -> vec4<f32> {
    let at = 32u * block + 4u * i;
    return vec4<f32>(
        bitcast<f32>(words[at]),
        bitcast<f32>(words[at + 1u]),
        bitcast<f32>(words[at + 2u]),
        bitcast<f32>(words[at + 3u]),
    );
}
";

/// WGSL functions that read f16 weights.
pub const F16: &str = "
fn scale(block: u32) -> f32 { return 1.0; }
fn four(block: u32, i: u32) -> vec4<f32> {
    let at = 16u * block + 2u * i;
    return vec4<f32>(unpack2x16float(words[at]), unpack2x16float(words[at + 1u]));
}
";

/// WGSL functions that read bf16 weights. A bf16 is the upper half of an f32.
pub const BF16: &str = "
fn scale(block: u32) -> f32 { return 1.0; }
fn four(block: u32, i: u32) -> vec4<f32> {
    let at = 16u * block + 2u * i;
    let low = words[at];
    let high = words[at + 1u];
    return vec4<f32>(
        bitcast<f32>(low << 16u),
        bitcast<f32>(low & 0xffff0000u),
        bitcast<f32>(high << 16u),
        bitcast<f32>(high & 0xffff0000u),
    );
}
";

/// Looks up the row of each token: `tokens [columns]` → `result [columns, k]`. The kernel also
/// needs the sources of `mat_vec::READING` and of a format. One thread computes four elements.
pub const EMBED: &str = "
struct Sizes { k: u32, rows: u32, columns: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@group(0) @binding(2) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let thread = id.y * groups.x * 64u + id.x;
    let fours = sizes.k / 4u;
    let column = thread / fours;
    if column < sizes.columns {
        let at = thread % fours;
        let block = tokens[column] * (sizes.k / 32u) + at / 8u;
        let numbers = scale(block) * four(block, at % 8u);
        for (var i = 0u; i < 4u; i += 1u) {
            result[column * sizes.k + 4u * at + i] = numbers[i];
        }
    }
}
";

/// Rotates each head of `x [rows, heads, d]` by the position of its row. `turns [rows, d / 2]`
/// holds the cosine and sine of each angle. One thread rotates one pair of elements.
pub const ROPE: &str = "
struct Sizes { d: u32, heads: u32, rows: u32, interleaved: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> turns: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let thread = id.y * groups.x * 64u + id.x;
    let half = sizes.d / 2u;
    let pair = thread % half;
    let head = thread / half;
    let row = head / sizes.heads;
    if row < sizes.rows {
        let start = head * sizes.d;
        let one = start + select(pair, 2u * pair, sizes.interleaved == 1u);
        let other = select(one + half, one + 1u, sizes.interleaved == 1u);
        let turn = turns[row * half + pair];
        result[one] = x[one] * turn.x - x[other] * turn.y;
        result[other] = x[one] * turn.y + x[other] * turn.x;
    }
}
";

/// Adds the bias `b` to every row of `a`.
pub const ADD_ROW: &str = "
struct Sizes { n: u32, width: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = id.y * groups.x * 64u + id.x;
    if i < sizes.n {
        result[i] = a[i] + b[i % sizes.width];
    }
}
";

/// Copies `n` elements of `a`, beginning at index `from_`, to `result`, beginning at index `to`.
/// Unlike a plain buffer copy, this kernel also works within one buffer.
pub const COPY: &str = "
struct Sizes { n: u32, from_: u32, to: u32 }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = id.y * groups.x * 64u + id.x;
    if i < sizes.n {
        result[sizes.to + i] = a[sizes.from_ + i];
    }
}
";
