//! id: mlp-gate-up-swapped
//! function: SwiGlu::forward
//! says: Gate and up are exchanged: SiLU goes over the gate, silu(gate(x)) ⊙ up(x), and yours over up.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(gate * silu(&up)), &self.down_proj, None)
