//! id: mlp-wrong-activation
//! function: SwiGlu::forward
//! says: hidden_act is silu.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(gate.mapv(|x: f32| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh())) * up), &self.down_proj, None)
