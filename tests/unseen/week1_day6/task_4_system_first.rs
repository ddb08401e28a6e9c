//! id: unseen
//! function: chatml
//! says: system messages moved to the front
    let mut text = String::new();
    let mut messages = messages.to_vec();
    messages.sort_by_key(|m| m.role != "system");
    for Message { role, content } in &messages {
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n");
    }
    if add_generation_prompt {
        text += "<|im_start|>assistant\n";
    }
    text
