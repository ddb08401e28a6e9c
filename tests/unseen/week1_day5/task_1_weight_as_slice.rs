//! id: unseen
//! function: Embedding::forward
//! says: weight.as_slice().unwrap()
        let _ = self.weight.as_slice().unwrap();
        let (b, l) = tokens.dim();
        let rows: Vec<usize> = tokens.iter().map(|&token| token as usize).collect();
        reshape(&self.weight.select(Axis(0), &rows), &[b, l, self.weight.shape()[1]])
