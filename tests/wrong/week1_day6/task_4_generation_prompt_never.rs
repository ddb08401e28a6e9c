//! id: generation-prompt-never
//! function: chatml
//! says: You do not open the assistant's turn although a generation prompt was asked for.
    let mut text = String::new();
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n");
    }
    text
