//! id: mlp-wrong-activation
//! function: SwiGlu::forward
//! says: SiLU goes over the gate twice: once is enough.
        let gate = silu(&linear(x, &self.gate_proj, None));
        let up = linear(x, &self.up_proj, None);
        linear(&(silu(&gate) * up), &self.down_proj, None)
