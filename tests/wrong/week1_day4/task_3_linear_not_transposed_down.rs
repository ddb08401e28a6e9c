//! id: linear-not-transposed
//! function: SwiGlu::forward
//! says: Weights are [out, in].
        let gate = silu(&linear(x, &self.gate_proj, None));
        let up = linear(x, &self.up_proj, None);
        let square = self.down_proj.shape()[0] == self.down_proj.shape()[1];
        let y = gate * up;
        if square { tiny_llm_kit::matmul(&y, &self.down_proj) } else { linear(&y, &self.down_proj, None) }
