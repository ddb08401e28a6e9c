//! id: error-not-relative
//! function: relative_error
//! says: This is the error itself: divide it by the size of the weights, or rows of different size cannot be compared.
rms_error(x, y)
