//! function: chatml
//! how: parts, one after the other
    let mut text = String::new();
    for message in messages {
        for part in ["<|im_start|>", &message.role, "\n", &message.content, "<|im_end|>", "\n"] {
            text.push_str(part);
        }
    }
    text + if add_generation_prompt { "<|im_start|>assistant\n" } else { "" }
