//! id: generation-prompt-without-line-feed
//! function: chatml
//! says: The generation prompt ends with a line feed.
let mut text = String::from("");
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n"); }
    if add_generation_prompt { text += "<|im_start|>assistant"; }
    text
