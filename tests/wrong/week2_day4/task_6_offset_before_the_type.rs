//! id: header-order
//! function: head
//! says: In the table the type stands before the offset: you exchanged them.
let mut out = MAGIC.to_vec();
out.extend(VERSION.to_le_bytes());
out.extend((tensors.len() as u64).to_le_bytes());
out.extend((metadata.iter().count() as u64).to_le_bytes());
for (key, value) in metadata.iter() {
    put_string(&mut out, key);
    put_value(&mut out, value);
}
for tensor in tensors {
    put_string(&mut out, &tensor.name);
    out.extend((tensor.shape.len() as u32).to_le_bytes());
    // The file has the fastest axis first.
    for length in tensor.shape.iter().rev() {
        out.extend((*length as u64).to_le_bytes());
    }
    out.extend((tensor.offset as u64).to_le_bytes());
    out.extend(tensor.tensor_type.id().to_le_bytes());
}
out.resize(out.len().next_multiple_of(alignment), 0);
out
