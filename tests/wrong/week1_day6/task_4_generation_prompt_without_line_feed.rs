//! id: generation-prompt-without-line-feed
//! function: chatml
//! says: Your generation prompt does not end with a line feed: the answer begins on a line of its own.
    let mut text = String::new();
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n");
    }
    if add_generation_prompt {
        text += "<|im_start|>assistant";
    }
    text
