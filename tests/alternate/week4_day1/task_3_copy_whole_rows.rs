//! function: Strided::contiguous
//! how: the blocks in their order, whole rows at once where they lie in one piece
        let mut out = Vec::with_capacity(self.layout.elements());
        let len = self.layout.tensor_type.block_len();
        let whole = self.layout.has_whole_rows();
        for index in self.blocks() {
            match (whole, index[0]) {
                (true, 0) => out.extend_from_slice(self.row(index)),
                (true, _) => {}
                (false, at) => {
                    assert!(at % len == 0, "the first element of a block");
                    out.extend_from_slice(self.block(index));
                }
            }
        }
        out
