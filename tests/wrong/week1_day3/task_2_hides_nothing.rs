//! id: causal-missing
//! function: causal_mask
//! says: Your mask hides nothing, and so lets a token see the future: keys after S − L + i get −inf.
//! shows: is 0 throughout, so it hides nothing, and a token sees the future
    assert!(length <= keys, "{length} queries cannot be the last of {keys} positions");
    Tensor::zeros(IxDyn(&[length, keys]))
