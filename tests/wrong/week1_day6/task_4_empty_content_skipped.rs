//! id: empty-content-skipped
//! function: chatml
//! says: An empty message is a message.
let mut text = String::new();
    for Message { role, content } in messages { if content.is_empty() { continue; } text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n"); }
    if add_generation_prompt { text += "<|im_start|>assistant\n"; }
    text
