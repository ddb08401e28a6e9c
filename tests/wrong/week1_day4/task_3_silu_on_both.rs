//! id: mlp-gate-up-swapped
//! function: SwiGlu::forward
//! says: SiLU goes over both of your factors: it goes over the gate alone.
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(silu(&gate) * silu(&up)), &self.down_proj, None)
