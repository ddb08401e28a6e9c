//! function: Engine::preempt
//! how: the youngest is looked for by its number
        let youngest = self.running.iter().enumerate().max_by_key(|(_, sequence)| sequence.id);
        let Some((at, _)) = youngest else { return };
        let mut sequence = self.running.remove(at);
        if let Some(slot) = sequence.slot {
            self.slots.release(slot, sequence.id);
            self.cache.truncate(slot, 0);
        }
        sequence.slot = None;
        sequence.num_computed = 0;
        sequence.phase = Phase::Waiting;
        self.waiting.push_front(sequence);
