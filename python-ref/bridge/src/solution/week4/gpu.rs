//! Day 5: GPU kernels. Each result is followed by numbers that no kernel may change, and each input
//! by NaN.

use anyhow::{Result, ensure};
use pyo3::types::PyBytes;
use tiny_llm_formats::gguf::TensorType;
use tiny_llm_gpu::{Buffer, Gpu, bytes_of};

use super::{
    super::week2::blocks::type_named,
    rust::gpu::{
        attention::LONGEST_HEAD,
        elementwise::{self, GROUPS, THREADS},
        kernels::{Kernels, Which, is_known},
        mat_mat::TILE,
        record::{self, DeviceMatrix, DeviceMlp, MlpBuffers},
    },
};
use crate::{device, prelude::*};

exports! {
    fn adapter, dispatch_size, add, silu_gate, rms_norm, mat_vec, mat_mat, attention, product, mlp;
}

/// Maximum number of elements in a buffer, so that an index fits into a `u32`.
const MOST: usize = 1 << 26;

/// Number of elements that follow a result, more than a workgroup has threads, and their value.
const BEHIND: usize = 70;
const UNTOUCHED: f32 = -777.0;

/// Number of elements in a block. `k` must be a multiple of it.
const BLOCK: usize = 32;

/// Returns a description of the opened adapter. Raises a `ValueError` if there is none.
#[pyfunction]
fn adapter() -> PyResult<String> {
    attempt(|| device::with(|gpu| Ok(gpu.about().to_string())))
}

/// Returns the size `[x, y, 1]` of a grid of workgroups that has a thread for each of `n` items.
#[pyfunction]
fn dispatch_size(n: Count, per_group: Count) -> PyResult<[u32; 3]> {
    at_least_one("per_group", per_group.0)?;
    below("per_group", per_group.0, 1 << 16, "more than any workgroup has")?;
    let per_group = per_group.0 as u32;
    attempt(move || elementwise::dispatch_size(n.0, per_group))
}

/// Computes `a + b`, both `[n]`. The grid of workgroups has `lines` rows.
#[pyfunction]
#[pyo3(signature = (a, b, lines=Count(1)), text_signature = "(a, b, lines=1)")]
fn add(a: Floats, b: Floats, lines: Count) -> PyResult<Floats> {
    elementwise(Which::Add, [("a", &a), ("b", &b)], lines)
}

/// Computes `silu(gate) · up`, both `[n]`. The grid of workgroups has `lines` rows.
#[pyfunction]
#[pyo3(signature = (gate, up, lines=Count(1)), text_signature = "(gate, up, lines=1)")]
fn silu_gate(gate: Floats, up: Floats, lines: Count) -> PyResult<Floats> {
    elementwise(Which::SiluGate, [("gate", &gate), ("up", &up)], lines)
}

fn elementwise(
    which: Which,
    inputs: [(&'static str, &Floats); 2],
    lines: Count,
) -> PyResult<Floats> {
    let mut shapes = Shapes::default();
    for (name, x) in inputs {
        shapes.fit(name, "n", x)?;
        fine(name, x)?;
    }
    let n = shapes.size("n");
    let groups = in_lines(n.div_ceil(THREADS as usize), lines, 1)?;
    let inputs = inputs.map(|(_, x)| with_nonsense(x));
    run(which, vec![n as u32], inputs.to_vec(), groups, vec![n])
}

/// Divides each row of `x [rows, width]` by its root mean square and multiplies it by
/// `weight [width]`. `eps` is added to the mean square. The grid of workgroups has `lines` rows.
#[pyfunction]
#[pyo3(signature = (x, weight, eps, lines=Count(1)), text_signature = "(x, weight, eps, lines=1)")]
fn rms_norm(x: Floats, weight: Floats, eps: Real, lines: Count) -> PyResult<Floats> {
    let shapes = fit!(x = "rows width", weight = "width");
    fine("x", &x)?;
    fine("weight", &weight)?;
    let [rows, width] = ["rows", "width"].map(|letter| shapes.size(letter));
    let sizes = vec![width as u32, rows as u32, eps.0.to_bits()];
    let groups = in_lines(rows, lines, 1)?;
    let inputs = vec![with_nonsense(&x), with_nonsense(&weight)];
    run(Which::RmsNorm, sizes, inputs, groups, vec![rows, width])
}

/// Multiplies `x [columns, k]` by the rows whose blocks are in `bytes` → `[columns, rows]`. Each
/// element has a workgroup. A column's workgroups are in `lines` rows.
#[pyfunction]
#[pyo3(
    signature = (tensor_type, bytes, x, lines=Count(1)),
    text_signature = "(tensor_type, bytes, x, lines=1)"
)]
fn mat_vec(
    tensor_type: &str,
    bytes: Vec<Bound<'_, PyBytes>>,
    x: Floats,
    lines: Count,
) -> PyResult<Floats> {
    let (weight, columns) = operands(tensor_type, &bytes, &x)?;
    let groups = in_lines(weight.rows, lines, columns)?;
    let which = Which::MatVec(weight.tensor_type);
    let (sizes, shape) = (weight.sizes(columns), vec![columns, weight.rows]);
    run(which, sizes, vec![weight.bytes, with_nonsense(&x)], groups, shape)
}

/// Works like `mat_vec`, but each workgroup computes a tile of the result.
#[pyfunction]
fn mat_mat(tensor_type: &str, bytes: Vec<Bound<'_, PyBytes>>, x: Floats) -> PyResult<Floats> {
    let (weight, columns) = operands(tensor_type, &bytes, &x)?;
    let groups = [weight.rows, columns].map(|n| n.div_ceil(TILE as usize) as u32);
    let which = Which::MatMat(weight.tensor_type);
    let (sizes, shape) = (weight.sizes(columns), vec![columns, weight.rows]);
    let inputs = vec![weight.bytes, with_nonsense(&x)];
    run(which, sizes, inputs, [groups[0], groups[1], 1], shape)
}

/// Computes attention of `q [rows, heads, d]` over `keys` and `values [positions, kv_heads, d]`.
/// Row `t` sees the positions 0 to `first + t`. Scores are multiplied by `scale`.
#[pyfunction]
fn attention(
    q: Floats,
    keys: Floats,
    values: Floats,
    first: Count,
    scale: Real,
) -> PyResult<Floats> {
    let shapes =
        fit!(q = "rows heads d", keys = "positions kv_heads d", values = "positions kv_heads d");
    let letters = ["rows", "heads", "d", "positions", "kv_heads"];
    let [rows, heads, d, positions, kv_heads] = letters.map(|letter| shapes.size(letter));
    for (name, x) in [("q", &q), ("keys", &keys), ("values", &values)] {
        fine(name, x)?;
    }
    refuse_if!(d > LONGEST_HEAD as usize; "q", format_args!("heads of {d}");
        "at most {LONGEST_HEAD}");
    divides("keys", kv_heads, heads, "query heads")?;
    refuse_if!(rows > positions || first.0 > positions - rows;
        "first", format_args!("{} before {rows} rows", first.0);
        "at most the {positions} positions of keys");
    let sizes = [rows, heads, kv_heads, d, first.0].map(|n| n as u32);
    let sizes = sizes.into_iter().chain([scale.0.to_bits()]).collect();
    let inputs = [q, keys, values].map(|x| with_nonsense(&x)).to_vec();
    let groups = [heads as u32, rows as u32, 1];
    run(Which::Attention, sizes, inputs, groups, vec![rows, heads, d])
}

/// Works like `mat_vec` or `mat_mat`. The number of columns of `x` decides which.
#[pyfunction]
fn product(tensor_type: &str, bytes: Vec<Bound<'_, PyBytes>>, x: Floats) -> PyResult<Floats> {
    let (weight, columns) = operands(tensor_type, &bytes, &x)?;
    let shape = [columns, weight.rows];
    has_room(&shape)?;
    let x = with_nonsense(&x);
    let work = move |gpu: &Gpu| {
        let (kernels, n) = (Kernels::new(gpu), columns * weight.rows);
        let (x, weight, result) = (gpu.upload(&x)?, weight.upload(gpu)?, room_for(gpu, n)?);
        let mut pass = gpu.pass();
        record::product(&mut pass, &kernels, &weight, &x, columns, &result)?;
        pass.submit()?;
        Ok(Floats(tensor(&shape, download("product", gpu, &result, n)?)))
    };
    attempt(move || device::with(work))
}

/// A matrix argument: its type, and the bytes of each row.
type Given<'py> = (String, Vec<Bound<'py, PyBytes>>);

/// Computes `x + down(silu(gate(n)) · up(n))` with `n = rms_norm(x)`, for `x [rows, E]`,
/// `norm [E]`, `gate` and `up [I, E]`, `down [E, I]`. A matrix is a type and the bytes of its rows.
/// Also returns how many kernels were recorded, and how many times `mlp` itself submitted them.
#[pyfunction]
fn mlp(
    x: Floats,
    norm: Floats,
    eps: Real,
    gate: Given<'_>,
    up: Given<'_>,
    down: Given<'_>,
) -> PyResult<(Floats, usize, usize)> {
    let shapes = fit!(x = "rows E", norm = "E");
    fine("x", &x)?;
    fine("norm", &norm)?;
    let [rows, e] = ["rows", "E"].map(|letter| shapes.size(letter));
    let (gate, up) = (Weight::of("gate", &gate, e)?, Weight::of("up", &up, e)?);
    let inner = gate.rows;
    let down = Weight::of("down", &down, inner)?;
    for (name, found, expected) in [("up", up.rows, inner), ("down", down.rows, e)] {
        refuse_if!(found != expected; name, format_args!("{found} rows"); "{expected}");
    }
    has_room(&[rows, e.max(inner)])?;
    let (x, norm) = (with_nonsense(&x), with_nonsense(&norm));
    let work = move |gpu: &Gpu| {
        let weights = DeviceMlp {
            norm: gpu.upload(&norm)?,
            eps: eps.0,
            gate: gate.upload(gpu)?,
            up: up.upload(gpu)?,
            down: down.upload(gpu)?,
        };
        let [of_e, of_inner] = [rows * e, rows * inner];
        let buffers = MlpBuffers {
            x: gpu.upload(&x)?,
            normed: room_for(gpu, of_e)?,
            gate: room_for(gpu, of_inner)?,
            up: room_for(gpu, of_inner)?,
            gated: room_for(gpu, of_inner)?,
            down: room_for(gpu, of_e)?,
            out: room_for(gpu, of_e)?,
        };
        let (kernels, before) = (Kernels::new(gpu), gpu.submissions());
        let mut pass = gpu.pass();
        record::mlp(&mut pass, &kernels, &weights, &buffers, rows)?;
        let (recorded, submitted) = (pass.kernels(), gpu.submissions() - before);
        pass.submit()?;
        let out = download("mlp", gpu, &buffers.out, of_e)?;
        Ok((Floats(tensor(&[rows, e], out)), recorded, submitted))
    };
    attempt(move || device::with(work))
}

/// A matrix of blocks, with its rows one after the other.
struct Weight {
    tensor_type: TensorType,
    rows: usize,
    k: usize,
    bytes: Vec<u8>,
}

impl Weight {
    /// # Errors
    /// A `ValueError` that names `argument`, if no kernel supports the type, or if `rows` are not
    /// the bytes of rows of `k` elements.
    fn of(argument: &str, (name, rows): &Given<'_>, k: usize) -> PyResult<Self> {
        let tensor_type = type_named(name)?;
        refuse_if!(!is_known(tensor_type); "tensor_type", name; "Q8_0, Q4_0, F32, F16 or BF16");
        refuse_if!(!k.is_multiple_of(BLOCK); argument, format_args!("rows of {k} elements");
            "a multiple of {BLOCK}");
        refuse_if!(rows.is_empty(); argument, "no row"; "at least one");
        let length = k / tensor_type.block_len() * tensor_type.block_bytes();
        let lengths = || rows.iter().map(|row| row.as_bytes().len());
        if let Some((r, n)) = lengths().enumerate().find(|&(_, n)| n != length) {
            let expected = format!("{length}: {k} weights in {tensor_type}");
            return Err(wrong(argument, format_args!("{n} bytes in row {r}"), expected));
        }
        below(argument, rows.len().saturating_mul(length), 4 * MOST, "bytes that a kernel reads")?;
        let bytes = rows.iter().flat_map(PyBytesMethods::as_bytes).copied().collect();
        Ok(Self { tensor_type, rows: rows.len(), k, bytes })
    }

    fn sizes(&self, columns: usize) -> Vec<u32> {
        [self.k, self.rows, columns].map(|n| n as u32).to_vec()
    }

    fn upload(self, gpu: &Gpu) -> Result<DeviceMatrix> {
        let Self { tensor_type, rows, k, bytes } = self;
        Ok(DeviceMatrix { tensor_type, rows, k, bytes: gpu.upload(&bytes)? })
    }
}

/// Checks the arguments of a product. Returns the weight and the number of columns of `x`.
fn operands(
    tensor_type: &str,
    bytes: &[Bound<'_, PyBytes>],
    x: &Floats,
) -> PyResult<(Weight, usize)> {
    let shapes = fit!(x = "columns k");
    fine("x", x)?;
    let k = shapes.size("k");
    refuse_if!(!k.is_multiple_of(BLOCK); "x", format_args!("columns of {k}");
        "a multiple of {BLOCK}");
    let weight = Weight::of("bytes", &(tensor_type.to_owned(), bytes.to_vec()), k)?;
    Ok((weight, shapes.size("columns")))
}

/// Rejects magnitudes above 1e15, and more elements than a kernel can index.
fn fine(argument: &str, x: &Floats) -> PyResult<()> {
    at_most(argument, x, 1e15)?;
    below(argument, x.0.len(), MOST, "numbers that a kernel reads")
}

fn has_room(shape: &[usize]) -> PyResult<()> {
    room("the result", shape)?;
    let n = shape.iter().try_fold(1, |n: usize, &size| n.checked_mul(size));
    below("the result", n.unwrap_or(usize::MAX), MOST, "numbers that a kernel writes")
}

/// Returns a grid's size `[x, lines, z]`, with at least `groups` workgroups in each of `z` layers.
fn in_lines(groups: usize, lines: Count, z: usize) -> PyResult<[u32; 3]> {
    at_least_one("lines", lines.0)?;
    below("lines", lines.0, GROUPS as usize + 1, "the most that a device supports")?;
    Ok([groups.div_ceil(lines.0) as u32, lines.0 as u32, z as u32])
}

/// Returns the bytes of `x`, followed by NaNs that no kernel may use.
fn with_nonsense(x: &Floats) -> Vec<u8> {
    let all: Vec<f32> = x.0.iter().copied().chain([f32::NAN; 8]).collect();
    bytes_of(&all).to_vec()
}

/// Creates a buffer for `n` numbers, followed by numbers that must not change.
fn room_for(gpu: &Gpu, n: usize) -> Result<Buffer> {
    gpu.upload(bytes_of(&vec![UNTOUCHED; n + BEHIND]))
}

/// Returns the first `n` numbers of a buffer of [`room_for`].
///
/// # Errors
/// If a number after them has changed.
fn download(what: &str, gpu: &Gpu, buffer: &Buffer, n: usize) -> Result<Vec<f32>> {
    let mut found = gpu.numbers(buffer)?;
    for (i, x) in found[n..].iter().enumerate() {
        ensure!(
            *x == UNTOUCHED,
            "{what}: found {x} written {i} positions after the end of a result of {n} numbers; \
             that memory belongs to another tensor"
        );
    }
    found.truncate(n);
    Ok(found)
}

/// Runs one kernel on its inputs, and returns its result.
fn run(
    which: Which,
    sizes: Vec<u32>,
    inputs: Vec<Vec<u8>>,
    groups: [u32; 3],
    shape: Vec<usize>,
) -> PyResult<Floats> {
    has_room(&shape)?;
    let work = move |gpu: &Gpu| {
        let (kernels, n) = (Kernels::new(gpu), shape.iter().product());
        let kernel = kernels.get(which)?;
        let inputs: Vec<Buffer> =
            inputs.iter().map(|bytes| gpu.upload(bytes)).collect::<Result<_>>()?;
        let (reads, result): (Vec<&Buffer>, _) = (inputs.iter().collect(), room_for(gpu, n)?);
        let mut pass = gpu.pass();
        pass.run(&kernel, &sizes, &reads, &result, groups)?;
        pass.submit()?;
        Ok(Floats(tensor(&shape, download(&which.name(), gpu, &result, n)?)))
    };
    attempt(move || device::with(work))
}
