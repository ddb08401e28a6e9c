//! id: roofline-operations
//! function: work
//! says: Each multiply-add counts twice here; the factor 2 belongs where operations are compared.
let tied = !tensors.iter().any(|tensor| tensor.name == "output.weight");
let mut work = Work::default();
for tensor in tensors {
    let [rows, cols] = *tensor.shape else { continue };
    let size = tensor.size as u64;
    if tensor.name == "token_embd.weight" && !tied {
        work.bytes += size / rows as u64;
    } else {
        work.bytes += size;
        work.multiply_adds += 2 * rows as u64 * cols as u64;
    }
}
work
