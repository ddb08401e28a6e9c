//! id: double-bos
//! function: chatml
//! says: You put <|endoftext|> in front of the text; this template adds nothing there.
    let mut text = String::from("<|endoftext|>");
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n");
    }
    if add_generation_prompt {
        text += "<|im_start|>assistant\n";
    }
    text
