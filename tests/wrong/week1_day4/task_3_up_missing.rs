//! id: mlp-up-missing
//! function: SwiGlu::forward
//! says: up is missing: silu(gate(x)) is multiplied by up(x), number by number, before down.
        let gate = linear(x, &self.gate_proj, None);
        linear(&silu(&gate), &self.down_proj, None)
