//! id: system-prompt-invented
//! function: chatml
//! says: You add a system message that was not given; the text holds the given messages and no other.
    let mut text = String::new();
    if messages.first().is_none_or(|message| message.role != "system") {
        text += "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n";
    }
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n");
    }
    if add_generation_prompt {
        text += "<|im_start|>assistant\n";
    }
    text
