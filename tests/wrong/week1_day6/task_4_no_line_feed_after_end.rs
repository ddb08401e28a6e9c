//! id: no-line-feed-after-end
//! function: chatml
//! says: A line feed follows <|im_end|>.
let mut text = String::from("");
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role}\n{content}<|im_end|>"); }
    if add_generation_prompt { text += "<|im_start|>assistant\n"; }
    text
