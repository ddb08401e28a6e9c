//! id: mlp-up-missing
//! function: SwiGlu::forward
//! says: Both factors of your product come from gate_proj: the second should be up(x), from up_proj.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.gate_proj, None);
        linear(&(silu(&gate) * up), &self.down_proj, None)
