//! mlp-wrong-activation: hidden_act is silu.
//! wrong body for week1-day4 task 3: mlp.rs, SwiGlu::forward
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(gate.mapv(|x: f32| x.max(0.0)) * up), &self.down_proj, None)
