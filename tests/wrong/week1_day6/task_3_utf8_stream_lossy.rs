//! id: utf8-stream-lossy
//! function: TextStream::push
//! says: Hold incomplete bytes: error_len None means wait.
String::from_utf8_lossy(bytes).into_owned()
