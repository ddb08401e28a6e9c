//! id: linear-not-transposed
//! function: SwiGlu::forward
//! says: Your weights stand the wrong way round: they are [out, in], and row o dotted with x gives number o.
        let product = silu(&tiny_llm_formats::matmul(x, &self.gate_proj)) * tiny_llm_formats::matmul(x, &self.up_proj);
        tiny_llm_formats::matmul(&product, &self.down_proj)
