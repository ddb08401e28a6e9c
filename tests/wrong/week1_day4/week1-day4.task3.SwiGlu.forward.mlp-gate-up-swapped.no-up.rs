//! mlp-gate-up-swapped: Up is missing.
//! wrong body for week1-day4 task 3: mlp.rs, SwiGlu::forward
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&({ let _ = &up; silu(&gate) }), &self.down_proj, None)
