//! id: mlp-gate-up-swapped
//! function: SwiGlu::forward
//! says: Up is missing.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&({ let _ = &up; silu(&gate) }), &self.down_proj, None)
