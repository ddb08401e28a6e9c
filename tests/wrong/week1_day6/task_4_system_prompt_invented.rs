//! id: system-prompt-invented
//! function: chatml
//! says: No message is added.
let mut text = String::from(if messages.first().is_some_and(|m| m.role == "system") { "" } else { "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n" });
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n"); }
    if add_generation_prompt { text += "<|im_start|>assistant\n"; }
    text
