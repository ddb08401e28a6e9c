//! id: roofline-f32
//! function: work
//! says: You count four bytes for each weight; quantized weights are read as they are stored, which is what the size says.
let tied = !tensors.iter().any(|tensor| tensor.name == "output.weight");
let mut work = Work::default();
for tensor in tensors {
    let [rows, cols] = *tensor.shape else { continue };
    let size = 4 * rows as u64 * cols as u64;
    if tensor.name == "token_embd.weight" && !tied {
        work.bytes += size / rows as u64;
    } else {
        work.bytes += size;
        work.multiply_adds += rows as u64 * cols as u64;
    }
}
work
