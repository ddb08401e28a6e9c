//! id: utf8-stream-lossy
//! function: TextStream::push
//! says: The first bytes of a character become U+FFFD at once: hold them back, for the next push may complete it (`error_len()` is `None`).
        String::from_utf8_lossy(bytes).into_owned()
