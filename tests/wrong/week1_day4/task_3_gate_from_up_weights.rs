//! id: mlp-up-missing
//! function: SwiGlu::forward
//! says: Both factors of your product come from up_proj: what SiLU goes over should be gate(x), from gate_proj.
        let gate = linear(x, &self.up_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(silu(&gate) * up), &self.down_proj, None)
