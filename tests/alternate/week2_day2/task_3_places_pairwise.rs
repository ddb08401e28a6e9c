//! function: check_places
//! how: compares every pair
for (i, a) in tensors.iter().enumerate() {
    let wrong = |expected: String| anyhow!("{file}: tensor {}: offset {}, expected {expected}", shown(&a.name), a.offset);
    ensure!(a.offset & (alignment - 1) == 0, wrong(format!("a multiple of {alignment}")));
    ensure!(a.offset <= data_len && a.size <= data_len - a.offset, wrong(format!("room within {data_len} bytes")));
    for b in tensors.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, b)| b) {
        let behind = |a: &TensorInfo, b: &TensorInfo| a.offset >= b.offset.saturating_add(b.size);
        // The one that begins later is to blame.
        ensure!(a.offset < b.offset || behind(a, b), wrong("a place of its own".to_owned()));
    }
}
Ok(())
