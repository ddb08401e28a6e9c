//! id: no-line-feed-after-end
//! function: chatml
//! says: A line feed is missing after <|im_end|>; each message ends with one, the last too.
    let mut text = String::new();
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>");
    }
    if add_generation_prompt {
        text += "<|im_start|>assistant\n";
    }
    text
