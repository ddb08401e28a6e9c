//! function: Slots::claim
//! how: a loop over the places
        for (slot, owner) in self.owners.iter_mut().enumerate() {
            if owner.is_none() {
                *owner = Some(id);
                return Some(slot);
            }
        }
        None
