//! id: end-exclusive
//! function: check_places
//! says: A tensor that ends with the data is refused: its end is one past its last byte, and may be the length of the data.
let mut in_order: Vec<&TensorInfo> = tensors.iter().collect();
in_order.sort_by_key(|tensor| tensor.offset);
let mut end_before = 0;
for tensor in in_order {
    let wrong =
        |expected: String| anyhow!("{file}: tensor {}: found offset {}, expected {expected}", shown(&tensor.name), tensor.offset);
    ensure!(tensor.offset.is_multiple_of(alignment), wrong(format!("a multiple of {alignment}")));
    ensure!(tensor.offset >= end_before, wrong(format!("{end_before} or more, where the tensor before it ends")));
    let end = tensor.offset.checked_add(tensor.size).filter(|&end| end < data_len);
    end_before =
        end.ok_or_else(|| wrong(format!("its {} bytes within the {data_len} of the data (is the file truncated?)", tensor.size)))?;
}
Ok(())
