//! function: rope_half_split
//! how: x · cos + rotate_half(x) · sin, with the tables put twice, as in Transformers
    let (length, half) = (x.shape()[x.ndim() - 2], x.shape()[x.ndim() - 1] / 2);
    let last = ndarray::Axis(x.ndim() - 1);
    let twice = |table: &Tensor| {
        let rows = table.slice_axis(ndarray::Axis(0), (offset..offset + length).into());
        ndarray::concatenate(ndarray::Axis(1), &[rows.view(), rows.view()]).expect("the same rows")
    };
    let (a, b) = x.view().split_at(last, half);
    let rotated = ndarray::concatenate(last, &[(-&b).view(), a]).expect("halves of one shape");
    x * &twice(&tables.cos) + rotated * &twice(&tables.sin)
