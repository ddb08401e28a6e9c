//! id: unseen
//! function: Embedding::forward
//! says: tokens as they lie in memory
        let (b, l) = tokens.dim();
        let rows: Vec<usize> = tokens.as_slice_memory_order().unwrap().iter().map(|&token| token as usize).collect();
        reshape(&self.weight.select(Axis(0), &rows), &[b, l, self.weight.shape()[1]])
