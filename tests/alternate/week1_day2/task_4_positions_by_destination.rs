//! function: rope_at_positions
//! how: every number is computed where it stands
    let [batch, _, length, d] = *x.shape() else { panic!("rope_at_positions needs [B, H, L, D], got {:?}", x.shape()) };
    assert_eq!(positions.dim(), (batch, length), "positions must be [B, L]");
    Tensor::from_shape_fn(x.raw_dim(), |at| {
        let (b, h, l, e) = (at[0], at[1], at[2], at[3]);
        let (i, partner, is_first) = match form {
            RopeForm::Interleaved => (e / 2, e ^ 1, e % 2 == 0),
            RopeForm::HalfSplit => (e % (d / 2), (e + d / 2) % d, e < d / 2),
        };
        let (cos, sin) = (tables.cos[[positions[[b, l]], i]], tables.sin[[positions[[b, l]], i]]);
        x[[b, h, l, e]] * cos + if is_first { -sin } else { sin } * x[[b, h, l, partner]]
    })
