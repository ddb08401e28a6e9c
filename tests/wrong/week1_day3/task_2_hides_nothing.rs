//! id: causal-missing
//! function: causal_mask
//! says: Your mask hides nothing, and so lets a token see the future: keys after S − L + i get −inf.
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::zeros(IxDyn(&[length, keys]))
