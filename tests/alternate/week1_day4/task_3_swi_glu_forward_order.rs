//! function: SwiGlu::forward
//! how: see the name
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(&up * silu(&gate)), &self.down_proj, None)
