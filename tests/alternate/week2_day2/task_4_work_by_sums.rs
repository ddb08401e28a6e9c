//! function: work
//! how: sums over iterators
let matrices = || tensors.iter().filter(|tensor| tensor.shape.len() == 2);
let head = if tensors.iter().any(|tensor| tensor.name == "output.weight") { "output.weight" } else { "token_embd.weight" };
let product = |tensor: &&TensorInfo| tensor.name != "token_embd.weight" || head == "token_embd.weight";
let looked_up = matrices().filter(|tensor| !product(tensor)).map(|tensor| tensor.size / tensor.shape[0]).sum::<usize>();
Work {
    bytes: (matrices().filter(product).map(|tensor| tensor.size).sum::<usize>() + looked_up) as u64,
    multiply_adds: matrices().filter(product).map(|tensor| tensor.shape.iter().product::<usize>() as u64).sum(),
}
