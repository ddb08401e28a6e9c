//! function: Layout::byte_of
//! how: a fold over the axes, the last first
        for axis in 0..AXES {
            let (i, n) = (index[axis], self.ne[axis]);
            assert!(i < n, "axis {axis}: found index {i}, expected one below {n}");
        }
        let block = [index[0] / self.tensor_type.block_len(), index[1], index[2], index[3]];
        (0..AXES).rev().fold(self.offset, |byte, axis| byte + block[axis] * self.nb[axis])
