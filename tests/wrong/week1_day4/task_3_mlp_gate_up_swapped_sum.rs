//! id: mlp-gate-up-swapped
//! function: SwiGlu::forward
//! says: Gate and up are multiplied.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(silu(&gate) + up), &self.down_proj, None)
