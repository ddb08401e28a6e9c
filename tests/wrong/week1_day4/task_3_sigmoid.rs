//! id: mlp-wrong-activation
//! function: SwiGlu::forward
//! says: Your gate goes through σ alone: it is SiLU that belongs there, x · σ(x).
        let gate = linear(x, &self.gate_proj, None).mapv(|x| 1.0 / (1.0 + (-x).exp()));
        let up = linear(x, &self.up_proj, None);
        linear(&(gate * up), &self.down_proj, None)
