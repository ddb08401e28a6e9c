//! id: generation-prompt-always
//! function: chatml
//! says: Only if asked for.
let mut text = String::from("");
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n"); }
    if add_generation_prompt || true { text += "<|im_start|>assistant\n"; }
    text
