//! id: mlp-wrong-activation
//! function: SwiGlu::forward
//! says: There is no activation in your MLP: SiLU goes over the gate.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(gate * up), &self.down_proj, None)
