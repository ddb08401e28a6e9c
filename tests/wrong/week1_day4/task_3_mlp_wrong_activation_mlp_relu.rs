//! id: mlp-wrong-activation
//! function: SwiGlu::forward
//! says: hidden_act is silu.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(gate.mapv(|x: f32| x.max(0.0)) * up), &self.down_proj, None)
