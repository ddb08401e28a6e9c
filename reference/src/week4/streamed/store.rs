//! Day 7. Reads weights from a slow device, a few rows at a time, and counts each read.
//!
//! Tasks here: week4-day7 task 3 (`Store::read`, `Store::product`). Everything else is provided.

use core::ops::Range;

use super::{
    error::Error,
    int8::{Activations, dot},
    shape::{Component, HEADER, Shape},
    storage::{Counts, Storage},
};

/// Reads a model's weights from its file. Keeps none of them in memory.
#[derive(Debug)]
pub struct Store<S> {
    storage: S,
    shape: Shape,
    /// The position in the file at which the last read ended.
    position: u64,
    counts: Counts,
}

impl<S: Storage> Store<S> {
    /// Provided. Reads the header and checks the file's length against it.
    ///
    /// # Errors
    /// If a read fails. Also if the header or the length is wrong: the error then names the value
    /// found and the value expected.
    pub fn open(mut storage: S) -> Result<Self, Error> {
        let mut header = [0; HEADER];
        let mut got = 0;
        while got < HEADER {
            let read =
                |code, got| Error::Read { part: "the header", at: 0, wanted: HEADER, got, code };
            match storage.read(got as u64, &mut header[got..]) {
                Ok(0) => return Err(read(None, got)),
                Ok(n) => got += n,
                Err(code) => return Err(read(Some(code), got)),
            }
        }
        let shape = Shape::from_header(&header, storage.len())?;
        Ok(Self { storage, shape, position: HEADER as u64, counts: Counts::default() })
    }

    /// Provided. Returns the model's sizes.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Provided. Returns the counters of reads since the file was opened.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Fills `out` with rows of the component `part`, beginning with row `row`. Counts the call as
    /// one read of all these bytes, no matter how many times the device has to be called. Whether a
    /// failed read counts is unspecified.
    ///
    /// # Errors
    /// If the file ends or the device fails before `out` is full.
    ///
    /// # Panics
    /// If `out` is longer than row `row` and all later rows of the component together.
    pub fn read(&mut self, part: Component, row: usize, out: &mut [u8]) -> Result<(), Error> {
        // SOLUTION week4-day7 task 3
        let rows = out.len().div_ceil(self.shape.row_bytes(part));
        assert!(
            row + rows <= self.shape.size(part).0,
            "{}: found {rows} rows from row {row} on, expected rows below {}",
            part.name(),
            self.shape.size(part).0
        );
        let at = self.shape.place(part, row);
        self.counts.reads += 1;
        self.counts.seeks += u64::from(at != self.position);
        self.counts.bytes += out.len() as u64;
        let (wanted, mut got) = (out.len(), 0);
        while got < wanted {
            let failed = |code| Error::Read { part: part.name(), at, wanted, got, code };
            match self.storage.read(at + got as u64, &mut out[got..]) {
                Ok(0) => return Err(failed(None)),
                Ok(n) => got += n,
                Err(code) => return Err(failed(Some(code))),
            }
        }
        self.position = at + wanted as u64;
        Ok(())
        // END SOLUTION
    }

    /// Multiplies the rows `rows` of the matrix `part` by `x [n]`, and writes one result for each
    /// row to `out`. A result is the integer dot product, converted to f32, times the product of
    /// the row's scale and the scale of `x`. Reads weights into `chunk`, as many whole rows at a
    /// time as fit. Only these rows are in memory.
    ///
    /// # Errors
    /// The same as for [`Store::read`].
    ///
    /// # Panics
    /// If `out` or `x` has the wrong length, or `chunk` is too small for one row.
    pub fn product(
        &mut self,
        part: Component,
        rows: Range<usize>,
        x: Activations<'_>,
        chunk: &mut [u8],
        out: &mut [f32],
    ) -> Result<(), Error> {
        // SOLUTION week4-day7 task 3
        let row_bytes = self.shape.row_bytes(part);
        assert_eq!(rows.len(), out.len(), "{}: numbers of rows and of products", part.name());
        assert!(
            row_bytes <= chunk.len(),
            "{}: found a chunk of {} bytes, expected at least {row_bytes}, the bytes of a row",
            part.name(),
            chunk.len()
        );
        let at_once = chunk.len() / row_bytes;
        let mut row = rows.start;
        for out in out.chunks_mut(at_once) {
            let bytes = &mut chunk[..out.len() * row_bytes];
            self.read(part, row, bytes)?;
            for (out, bytes) in out.iter_mut().zip(bytes.chunks_exact(row_bytes)) {
                let (scale, weights) = split_row(bytes);
                *out = dot(weights, x.values) as f32 * (scale * x.scale);
            }
            row += out.len();
        }
        Ok(())
        // END SOLUTION
    }

    /// Provided. Reads one row of an f32 component: a norm's weights, or the cosines and sines of
    /// RoPE for one position.
    ///
    /// # Errors
    /// The same as for [`Store::read`].
    pub fn floats(&mut self, part: Component, row: usize, out: &mut [f32]) -> Result<(), Error> {
        self.read(part, row, bytemuck::cast_slice_mut(out))?;
        for x in out {
            *x = f32::from_bits(u32::from_le(x.to_bits()));
        }
        Ok(())
    }
}

/// Provided. Splits a row of a matrix, as stored in the file, into its scale and its weights.
#[must_use]
pub fn split_row(bytes: &[u8]) -> (f32, &[i8]) {
    let (scale, weights) = bytes.split_at(4);
    let scale = f32::from_le_bytes([scale[0], scale[1], scale[2], scale[3]]);
    (scale, bytemuck::cast_slice(weights))
}
