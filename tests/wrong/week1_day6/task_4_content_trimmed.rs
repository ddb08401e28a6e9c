//! id: content-trimmed
//! function: chatml
//! says: The content stays as it is.
let mut text = String::from("");
    for Message { role, content } in messages { let content = content.trim(); text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n"); }
    if add_generation_prompt { text += "<|im_start|>assistant\n"; }
    text
