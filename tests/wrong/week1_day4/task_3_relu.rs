//! id: mlp-wrong-activation
//! function: SwiGlu::forward
//! says: Your gate goes through ReLU: it is SiLU that belongs there.
        let gate = linear(x, &self.gate_proj, None).mapv(|x| x.max(0.0));
        let up = linear(x, &self.up_proj, None);
        linear(&(gate * up), &self.down_proj, None)
