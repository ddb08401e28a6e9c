//! id: empty-content-skipped
//! function: chatml
//! says: You leave out a message whose content is empty; it is a message like any other.
    let mut text = String::new();
    for Message { role, content } in messages {
        if content.is_empty() {
            continue;
        }
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n");
    }
    if add_generation_prompt {
        text += "<|im_start|>assistant\n";
    }
    text
