//! id: work-in-bytes
//! function: work
//! says: Your multiply-adds are bytes: each weight multiplies once, however many bytes it takes.
let tied = !tensors.iter().any(|tensor| tensor.name == "output.weight");
let mut work = Work::default();
for tensor in tensors {
    let [rows, cols] = *tensor.shape else { continue };
    let size = tensor.size as u64;
    if tensor.name == "token_embd.weight" && !tied {
        work.bytes += size / rows as u64;
    } else {
        work.bytes += size;
        work.multiply_adds += size + 0 * (rows * cols) as u64;
    }
}
work
