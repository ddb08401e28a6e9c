//! function: SwiGlu::forward
//! how: up multiplied into the gate number by number, by iterators
        let mut gate = silu(&linear(x, &self.gate_proj, None));
        let up = linear(x, &self.up_proj, None);
        for (g, u) in gate.iter_mut().zip(&up) {
            *g *= u;
        }
        linear(&gate, &self.down_proj, None)
