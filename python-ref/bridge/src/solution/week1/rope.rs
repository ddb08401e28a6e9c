//! Day 2.

use super::rust::rope as rust;
use crate::prelude::*;

exports! {
    fn inverse_frequencies, rope_interleaved, rope_half_split, rope_at_positions,
        half_split_to_interleaved;
    class RopeTables;
    choice RopeForm;
}

/// Returns `base^(−2i/D)` for each pair `i` of a head, `[D/2]`.
#[pyfunction]
fn inverse_frequencies(head_dim: Count, base: Real) -> PyResult<Floats> {
    let head_dim = head_dim.0;
    even("head_dim", head_dim)?;
    let base = base.0;
    refuse_if!(base <= 0.0; "base", base; "a number above 0");
    room("the frequencies", &[head_dim / 2])?;
    call(move || rust::inverse_frequencies(head_dim, base)).map(|frequencies| vector(&frequencies))
}

/// Rejects a head size that is odd or 0, because RoPE rotates pairs.
fn even(argument: &str, head_dim: usize) -> PyResult<()> {
    refuse_if!(head_dim == 0 || !head_dim.is_multiple_of(2);
        argument, format_args!("a head size of {head_dim}"); "an even number from 2 on");
    Ok(())
}

/// The cosine and sine of every angle: `cos` and `sin [P, D/2]`.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct RopeTables(pub Arc<rust::RopeTables>);

impl RopeTables {
    /// Returns the number of positions, `P`.
    pub(super) fn positions(&self) -> usize {
        self.0.cos.shape()[0]
    }
}

#[pymethods]
impl RopeTables {
    #[new]
    fn new(inverse_frequencies: Floats, n_positions: Count) -> PyResult<Self> {
        let shapes = fit!(inverse_frequencies = "D/2");
        room("the tables", &[n_positions.0, shapes.size("D/2")])?;
        let frequencies = inverse_frequencies.to_vec();
        call(move || rust::RopeTables::new(&frequencies, n_positions.0))
            .map(|tables| Self(Arc::new(tables)))
    }

    /// Creates tables from arrays `[P, D/2]`, without the solution's constructor.
    #[staticmethod]
    fn from_arrays(cos: Floats, sin: Floats) -> PyResult<Self> {
        fit!(cos = "P D/2", sin = "P D/2");
        Ok(Self(Arc::new(rust::RopeTables { cos: cos.0, sin: sin.0 })))
    }

    /// Cosines, `[P, D/2]`.
    #[getter]
    fn cos(&self) -> Floats {
        Floats(self.0.cos.clone())
    }

    /// Sines, `[P, D/2]`.
    #[getter]
    fn sin(&self) -> Floats {
        Floats(self.0.sin.clone())
    }

    fn __repr__(&self) -> String {
        format!(
            "RopeTables(positions={}, head_dim={})",
            self.positions(),
            2 * self.0.cos.shape()[1]
        )
    }
}

/// Checks that the RoPE tables fit a head size. `argument` is the argument that has the head.
pub(super) fn check_rope(argument: &str, head_dim: usize, tables: &RopeTables) -> PyResult<()> {
    even(argument, head_dim)?;
    let found = 2 * tables.0.cos.shape()[1];
    refuse_if!(found != head_dim; "tables", format_args!("angles for a head size of {found}");
        "{head_dim}, as in {argument}");
    Ok(())
}

/// Rotates the pairs `(x[2i], x[2i+1])`: `x [..., L, D]` → the same shape. Row `l` is at position
/// `offset + l`.
#[pyfunction]
#[pyo3(signature = (x, tables, offset=Count(0)), text_signature = "(x, tables, offset=0)")]
fn rope_interleaved(x: Floats, tables: RopeTables, offset: Count) -> PyResult<Floats> {
    let offset = checked_offset(&x, &tables, offset)?;
    compute(move || rust::rope_interleaved(&x.0, &tables.0, offset))
}

/// Rotates the pairs `(x[i], x[i + D/2])`: `x [..., L, D]` → the same shape. Row `l` is at position
/// `offset + l`.
#[pyfunction]
#[pyo3(signature = (x, tables, offset=Count(0)), text_signature = "(x, tables, offset=0)")]
fn rope_half_split(x: Floats, tables: RopeTables, offset: Count) -> PyResult<Floats> {
    let offset = checked_offset(&x, &tables, offset)?;
    compute(move || rust::rope_half_split(&x.0, &tables.0, offset))
}

/// Returns `offset`, after checking that `tables` has the positions of all rows of `x [..., L, D]`.
fn checked_offset(x: &Floats, tables: &RopeTables, offset: Count) -> PyResult<usize> {
    let shapes = fit!(x = "... L D");
    check_rope("x", shapes.size("D"), tables)?;
    let (length, positions) = (shapes.size("L"), tables.positions());
    if offset.0.checked_add(length).is_some_and(|end| end <= positions) {
        return Ok(offset.0);
    }
    let found = format!("{} before {length} positions", offset.0);
    Err(wrong("offset", found, format_args!("the end within the {positions} positions of tables")))
}

choice! {
    /// The two elements of a head that form a pair.
    RopeForm = rust::RopeForm {
        Interleaved = "interleaved",
        HalfSplit = "half-split",
    }
}

/// Applies RoPE with a separate position for every row: `x [B, H, L, D]`, `positions [B, L]` → the
/// same shape as `x`.
#[pyfunction]
fn rope_at_positions(
    x: Floats,
    tables: RopeTables,
    positions: Ids<2>,
    form: RopeForm,
) -> PyResult<Floats> {
    let positions = positions.into_rows().mapv(|p| p as usize);
    let mut shapes = fit!(x = "B H L D");
    shapes.fit_shape("positions", "B L", positions.shape())?;
    check_rope("x", shapes.size("D"), &tables)?;
    let end = tables.positions();
    if let Some(beyond) = positions.iter().find(|position| **position >= end) {
        let expected = format!("less than {end}, the positions of tables");
        return Err(wrong("positions", beyond, expected));
    }
    compute(move || rust::rope_at_positions(&x.0, &tables.0, &positions, form.into()))
}

/// Reorders the rows of a projection from the half-split form to the interleaved form:
/// `weight [n_heads·D, E]` → the same shape.
#[pyfunction]
fn half_split_to_interleaved(weight: Floats, n_heads: Count) -> PyResult<Floats> {
    let shapes = fit!(weight = "n_heads·D E");
    let (rows, n_heads) = (shapes.size("n_heads·D"), n_heads.0);
    divides("n_heads", n_heads, rows, "the rows of weight")?;
    even("n_heads", rows / n_heads)?;
    compute(move || rust::half_split_to_interleaved(&weight.0, n_heads))
}
