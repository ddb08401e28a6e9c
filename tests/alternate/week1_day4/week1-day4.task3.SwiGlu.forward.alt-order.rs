//! alt-order: 
//! correct body of another shape for week1-day4 task 3: mlp.rs, SwiGlu::forward
        let gate = linear(x, &self.gate_proj, None);
        let up = linear(x, &self.up_proj, None);
        linear(&(&up * silu(&gate)), &self.down_proj, None)
