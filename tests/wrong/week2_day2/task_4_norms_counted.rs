//! id: roofline-norms
//! function: work
//! says: Norms are counted too; the documentation leaves out what has one axis.
let tied = !tensors.iter().any(|tensor| tensor.name == "output.weight");
let mut work = Work::default();
for tensor in tensors {
    let (rows, cols) = if let [rows, cols] = *tensor.shape { (rows, cols) } else { (1, tensor.shape[0]) };
    let size = tensor.size as u64;
    if tensor.name == "token_embd.weight" && !tied {
        work.bytes += size / rows as u64;
    } else {
        work.bytes += size;
        work.multiply_adds += rows as u64 * cols as u64;
    }
}
work
