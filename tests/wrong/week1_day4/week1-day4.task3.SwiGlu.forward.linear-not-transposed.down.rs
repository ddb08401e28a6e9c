//! linear-not-transposed: Weights are [out, in].
//! wrong body for week1-day4 task 3: mlp.rs, SwiGlu::forward
        let gate = silu(&linear(x, &self.gate_proj, None));
        let up = linear(x, &self.up_proj, None);
        let square = self.down_proj.shape()[0] == self.down_proj.shape()[1];
        let y = gate * up;
        if square { tiny_llm_kit::matmul(&y, &self.down_proj) } else { linear(&y, &self.down_proj, None) }
