//! id: generation-prompt-always
//! function: chatml
//! says: You open the assistant's turn although no generation prompt was asked for.
    let mut text = String::new();
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n");
    }
    text + "<|im_start|>assistant\n"
