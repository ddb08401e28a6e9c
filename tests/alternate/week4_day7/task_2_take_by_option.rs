//! function: Arena::take
//! how: what is wanted is computed with options, and the pad is cut off first
        let pad = (self.free.as_ptr() as usize).next_multiple_of(align_of::<T>()) - self.free.as_ptr() as usize;
        let wanted = size_of::<T>().checked_mul(n).and_then(|bytes| bytes.checked_add(pad)).unwrap_or(usize::MAX);
        let (free, budget) = (self.free(), self.ledger.budget());
        if free < wanted {
            return Err(Error::Full { what, wanted, free, budget, at: Location::caller() });
        }
        let memory = std::mem::replace(&mut self.free, &mut []);
        let (_, memory) = memory.split_at_mut(pad);
        let (mine, rest) = memory.split_at_mut(wanted - pad);
        self.free = rest;
        self.ledger.note(what, wanted, self.free.len());
        for byte in mine.iter_mut() {
            *byte = 0;
        }
        Ok(bytemuck::cast_slice_mut(mine))
