//! id: roofline-head-forgotten
//! function: work
//! says: The output head of a tied model is missing: without output.weight the whole embedding is read once more, to score; look at how you find out whether there is an `output.weight`: before the loop, and by its whole name.
let mut work = Work::default();
for tensor in tensors {
    let [rows, cols] = *tensor.shape else { continue };
    let size = tensor.size as u64;
    if tensor.name == "token_embd.weight" {
        work.bytes += size / rows as u64;
    } else {
        work.bytes += size;
        work.multiply_adds += rows as u64 * cols as u64;
    }
}
work
