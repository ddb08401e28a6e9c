//! function: Layout::permute
//! how: for each new axis, the old one that becomes it
        if axes[0] != 0 && self.tensor_type.block_len() > 1 {
            anyhow::bail!("{self}: its axis 0 is to become axis {} of {axes:?}", axes[0]);
        }
        let mut from = [0; AXES];
        for (new, old) in from.iter_mut().enumerate() {
            let found = axes.iter().position(|&axis| axis == new);
            *old = found.with_context(|| format!("{axes:?} has no axis {new}"))?;
        }
        Ok(Self { ne: from.map(|old| self.ne[old]), nb: from.map(|old| self.nb[old]), ..*self })
