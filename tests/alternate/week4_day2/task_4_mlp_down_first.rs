//! function: dense_mlp
//! how: the weights in another order, so that nodes have other numbers
    let down = g.weight(&mlp.down_proj)?;
    let up = g.weight(&mlp.up_proj)?;
    let up = g.mul_mat(up, x)?;
    let gate = g.weight(&mlp.gate_proj)?;
    let gate = g.mul_mat(gate, x)?;
    let gated = g.silu_gate(gate, up)?;
    g.mul_mat(down, gated)
