//! id: line-feed-before-end
//! function: chatml
//! says: A line feed stands between your content and <|im_end|>; nothing belongs there.
    let mut text = String::new();
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role}\n{content}\n<|im_end|>\n");
    }
    if add_generation_prompt {
        text += "<|im_start|>assistant\n";
    }
    text
