//! id: unseen
//! function: linear
//! says: of four axes only the first matrix
    let x4;
    let x = if x.ndim() == 4 { x4 = x.index_axis(Axis(0), 0).to_owned().insert_axis(Axis(0)).broadcast(ndarray::IxDyn(x.shape())).unwrap().to_owned(); &x4 } else { x };
    let y = matmul(x, transpose(weight));
    match bias {
        Some(bias) => y + bias,
        None => y,
    }
