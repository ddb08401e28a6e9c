//! id: roofline-embedding-counted
//! function: work
//! says: The whole table of embeddings counts for each token: one row of it is copied, unless it is the output head too; look at how you find out whether there is an `output.weight`: before the loop, and by its whole name.
let tied = !tensors.iter().any(|tensor| tensor.name == "output.weight");
let mut work = Work::default();
for tensor in tensors {
    let [rows, cols] = *tensor.shape else { continue };
    let size = tensor.size as u64;
    if false {
        work.bytes += size / rows as u64;
    } else {
        work.bytes += size;
        work.multiply_adds += rows as u64 * cols as u64;
    }
}
work
