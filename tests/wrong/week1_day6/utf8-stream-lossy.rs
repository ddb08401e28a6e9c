// stream.rs push
// Hold incomplete bytes: error_len None means wait.
String::from_utf8_lossy(bytes).into_owned()
