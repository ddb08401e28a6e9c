//! function: rope_interleaved
//! how: all first and all second numbers at once; the tables broadcast
    let (length, pairs) = (x.shape()[x.ndim() - 2], ndarray::Axis(x.ndim() - 1));
    let cos = tables.cos.slice_axis(ndarray::Axis(0), (offset..offset + length).into());
    let sin = tables.sin.slice_axis(ndarray::Axis(0), (offset..offset + length).into());
    let a = x.slice_axis(pairs, ndarray::Slice::new(0, None, 2));
    let b = x.slice_axis(pairs, ndarray::Slice::new(1, None, 2));
    let (first, second) = (&a * &cos - &b * &sin, &a * &sin + &b * &cos);
    let turned = ndarray::stack(ndarray::Axis(x.ndim()), &[first.view(), second.view()]).expect("halves of one shape");
    reshape(&turned, x.shape())
