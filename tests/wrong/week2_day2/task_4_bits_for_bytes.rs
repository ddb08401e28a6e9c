//! id: roofline-bits
//! function: work
//! says: You count bits; `TensorInfo::size` is in bytes already.
let tied = !tensors.iter().any(|tensor| tensor.name == "output.weight");
let mut work = Work::default();
for tensor in tensors {
    let [rows, cols] = *tensor.shape else { continue };
    let size = tensor.size as u64;
    if tensor.name == "token_embd.weight" && !tied {
        work.bytes += size / rows as u64;
    } else {
        work.bytes += 8 * size;
        work.multiply_adds += rows as u64 * cols as u64;
    }
}
work
