//! id: line-feed-before-end
//! function: chatml
//! says: Nothing stands between the content and <|im_end|>.
let mut text = String::from("");
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role}\n{content}\n<|im_end|>\n"); }
    if add_generation_prompt { text += "<|im_start|>assistant\n"; }
    text
