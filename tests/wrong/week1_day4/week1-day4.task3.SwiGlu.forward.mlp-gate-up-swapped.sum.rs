//! mlp-gate-up-swapped: Gate and up are multiplied.
//! wrong body for week1-day4 task 3: mlp.rs, SwiGlu::forward
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(silu(&gate) + up), &self.down_proj, None)
