//! function: place
//! how: the end first
let end = data_start + tensor.offset + tensor.size;
end - tensor.size..end
