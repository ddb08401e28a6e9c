//! id: value-type
//! function: put_value
//! says: The number of the type takes four bytes, not one.
let mut put = |type_id: u32, bytes: &[u8]| {
    out.push(type_id as u8);
    out.extend(bytes);
};
match value {
    Value::U8(x) => put(0, &x.to_le_bytes()),
    Value::I8(x) => put(1, &x.to_le_bytes()),
    Value::U16(x) => put(2, &x.to_le_bytes()),
    Value::I16(x) => put(3, &x.to_le_bytes()),
    Value::U32(x) => put(4, &x.to_le_bytes()),
    Value::I32(x) => put(5, &x.to_le_bytes()),
    Value::F32(x) => put(6, &x.to_le_bytes()),
    Value::Bool(x) => put(7, &[u8::from(*x)]),
    Value::String(text) => {
        put(8, &[]);
        put_string(out, text);
    }
    Value::Array(array) => {
        put(9, &[]);
        put_array(out, array);
    }
    Value::U64(x) => put(10, &x.to_le_bytes()),
    Value::I64(x) => put(11, &x.to_le_bytes()),
    Value::F64(x) => put(12, &x.to_le_bytes()),
}
