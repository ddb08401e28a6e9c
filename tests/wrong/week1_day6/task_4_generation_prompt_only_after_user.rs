//! id: generation-prompt-only-after-user
//! function: chatml
//! says: It does not depend on who spoke last.
let mut text = String::from("");
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n"); }
    if add_generation_prompt && messages.last().is_some_and(|m| m.role == "user") { text += "<|im_start|>assistant\n"; }
    text
