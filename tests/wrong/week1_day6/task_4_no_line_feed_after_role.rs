//! id: no-line-feed-after-role
//! function: chatml
//! says: A line feed, not a space, follows the role.
let mut text = String::from("");
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role} {content}<|im_end|>\n"); }
    if add_generation_prompt { text += "<|im_start|>assistant\n"; }
    text
