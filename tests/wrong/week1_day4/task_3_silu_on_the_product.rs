//! id: mlp-gate-up-swapped
//! function: SwiGlu::forward
//! says: SiLU goes over your product gate ⊙ up: it goes over the gate alone, before they are multiplied.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&silu(&(gate * up)), &self.down_proj, None)
