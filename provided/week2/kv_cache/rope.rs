//! RoPE from a table: rotates heads in place, in the layout that the model's file uses.

/// Specifies which two elements of a head are rotated together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RopeLayout {
    /// Pairs `(x[2i], x[2i+1])`, as in GGUF files of Llama models. The converter that writes such a
    /// file reorders the rows of the query and key weights for this layout.
    Interleaved,
    /// Pairs `(x[i], x[i + D/2])`, as in Hugging Face folders and GGUF files of Qwen models.
    HalfSplit,
}

/// A table of the cosine and sine of every RoPE angle. Row `p` is for position `p`.
#[derive(Debug, Clone)]
pub struct RopeTable {
    half: usize,
    /// Pairs of cosine and sine, `[P, D/2]`.
    turns: Vec<(f32, f32)>,
}

impl RopeTable {
    /// Computes the table for positions `0..positions`. `inverse_frequencies [D/2]` are in radians
    /// per position.
    #[must_use]
    pub fn new(inverse_frequencies: &[f32], positions: usize) -> Self {
        let turn = |p: usize| {
            inverse_frequencies.iter().map(move |theta| {
                let (sin, cos) = (p as f32 * theta).sin_cos();
                (cos, sin)
            })
        };
        Self { half: inverse_frequencies.len(), turns: (0..positions).flat_map(turn).collect() }
    }

    /// Returns `D`, the number of elements in a head.
    #[must_use]
    pub fn head_dim(&self) -> usize {
        2 * self.half
    }

    /// Returns the number of positions.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.turns.len() / self.half.max(1)
    }

    /// Returns the `D/2` pairs of cosine and sine of a position.
    ///
    /// # Panics
    /// If the position is beyond the table.
    #[must_use]
    pub fn turns(&self, position: usize) -> &[(f32, f32)] {
        &self.turns[position * self.half..][..self.half]
    }

    /// Multiplies all cosines and sines by `factor`, for YaRN.
    #[must_use]
    pub fn scaled(mut self, factor: f32) -> Self {
        for (cos, sin) in &mut self.turns {
            (*cos, *sin) = (*cos * factor, *sin * factor);
        }
        self
    }

    /// Rotates each head of `x [heads, D]` by the angles of `position`, in place.
    pub fn rotate(&self, x: &mut [f32], position: usize, layout: RopeLayout) {
        let turns = &self.turns[position * self.half..][..self.half];
        for head in x.chunks_exact_mut(2 * self.half) {
            match layout {
                RopeLayout::Interleaved => {
                    for (pair, (cos, sin)) in head.chunks_exact_mut(2).zip(turns) {
                        (pair[0], pair[1]) =
                            (pair[0] * cos - pair[1] * sin, pair[0] * sin + pair[1] * cos);
                    }
                }
                RopeLayout::HalfSplit => {
                    let (first, second) = head.split_at_mut(self.half);
                    for ((a, b), (cos, sin)) in first.iter_mut().zip(second).zip(turns) {
                        (*a, *b) = (*a * cos - *b * sin, *a * sin + *b * cos);
                    }
                }
            }
        }
    }
}
