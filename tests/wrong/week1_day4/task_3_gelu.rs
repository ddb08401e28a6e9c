//! id: mlp-wrong-activation
//! function: SwiGlu::forward
//! says: Your gate goes through GELU: it is SiLU that belongs there.
        let gate = linear(x, &self.gate_proj, None).mapv(|x| 0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh()));
        let up = linear(x, &self.up_proj, None);
        linear(&(gate * up), &self.down_proj, None)
