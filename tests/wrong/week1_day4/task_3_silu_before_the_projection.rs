//! id: mlp-wrong-activation
//! function: SwiGlu::forward
//! says: SiLU goes over x before gate_proj: it goes over what gate_proj gives.
        let gate = linear(&silu(x), &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(gate * up), &self.down_proj, None)
