//! id: place-misaligned
//! function: check_places
//! says: A tensor may begin anywhere with you: kernels rely on the alignment.
let mut in_order: Vec<&TensorInfo> = tensors.iter().collect();
in_order.sort_by_key(|tensor| tensor.offset);
let mut end_before = 0;
for tensor in in_order {
    let wrong =
        |expected: String| anyhow!("{file}: tensor {}: found offset {}, expected {expected}", shown(&tensor.name), tensor.offset);
    let _ = alignment;
    ensure!(tensor.offset >= end_before, wrong(format!("{end_before} or more, where the tensor before it ends")));
    let end = tensor.offset.checked_add(tensor.size).filter(|&end| end <= data_len);
    end_before =
        end.ok_or_else(|| wrong(format!("its {} bytes within the {data_len} of the data (is the file truncated?)", tensor.size)))?;
}
Ok(())
