//! function: SwiGlu::forward
//! how: gate and up as one projection [2·I, E], cut apart afterwards
        let last = ndarray::Axis(x.ndim() - 1);
        let both = ndarray::concatenate(ndarray::Axis(0), &[self.gate_proj.view(), self.up_proj.view()]).expect("both have E columns");
        let both = linear(x, &both, None);
        let (gate, up) = both.view().split_at(last, self.gate_proj.len_of(ndarray::Axis(0)));
        linear(&(silu(&gate.to_owned()) * up), &self.down_proj, None)
