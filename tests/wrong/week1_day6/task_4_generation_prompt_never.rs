//! id: generation-prompt-never
//! function: chatml
//! says: The assistant's turn must begin.
let mut text = String::from("");
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n"); }
    if add_generation_prompt && false { text += "<|im_start|>assistant\n"; }
    text
