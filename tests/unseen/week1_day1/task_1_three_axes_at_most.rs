//! id: unseen
//! function: linear
//! says: 4-D input refused
    assert!(x.ndim() <= 3, "linear takes 2 or 3 axes");
    let y = matmul(x, transpose(weight));
    match bias {
        Some(bias) => y + bias,
        None => y,
    }
