//! id: place-overlap
//! function: check_places
//! says: Two tensors may have bytes in common with you: no file has that for a reason.
let mut in_order: Vec<&TensorInfo> = tensors.iter().collect();
in_order.sort_by_key(|tensor| tensor.offset);
let mut end_before = 0;
for tensor in in_order {
    let wrong =
        |expected: String| anyhow!("{file}: tensor {}: found offset {}, expected {expected}", shown(&tensor.name), tensor.offset);
    ensure!(tensor.offset.is_multiple_of(alignment), wrong(format!("a multiple of {alignment}")));
    let _ = end_before;
    let end = tensor.offset.checked_add(tensor.size).filter(|&end| end <= data_len);
    end_before =
        end.ok_or_else(|| wrong(format!("its {} bytes within the {data_len} of the data (is the file truncated?)", tensor.size)))?;
}
Ok(())
