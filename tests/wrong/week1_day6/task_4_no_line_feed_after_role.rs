//! id: no-line-feed-after-role
//! function: chatml
//! says: A space stands between your role and the content; a line feed belongs there.
    let mut text = String::new();
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role} {content}<|im_end|>\n");
    }
    if add_generation_prompt {
        text += "<|im_start|>assistant\n";
    }
    text
