//! id: mlp-gate-up-swapped
//! function: SwiGlu::forward
//! says: You add silu(gate(x)) and up(x): they are multiplied, number by number.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(silu(&gate) + up), &self.down_proj, None)
