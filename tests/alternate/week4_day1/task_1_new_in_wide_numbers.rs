//! function: Layout::new
//! how: the sizes padded first, bytes counted in 128 bits
        let all: u128 = sizes.iter().fold(1, |n, size| n.saturating_mul(*size as u128));
        if sizes.len() > AXES || all == 0 || all.saturating_mul(256) > usize::MAX as u128 {
            anyhow::bail!("{sizes:?}: found {} axes and {all} elements", sizes.len());
        }
        let at = |axis: usize| sizes.get(axis).copied().unwrap_or(1);
        let ne = [at(0), at(1), at(2), at(3)];
        let row = tensor_type.row_bytes(ne[0]);
        let row = row.with_context(|| {
            let block = tensor_type.block_len();
            format!("{tensor_type}: found {}, expected blocks of {block}", ne[0])
        })?;
        let nb = [tensor_type.block_bytes(), row, row * ne[1], row * ne[1] * ne[2]];
        Ok(Self { tensor_type, ne, nb, offset: 0 })
