//! id: generation-prompt-closed
//! function: chatml
//! says: The assistant's turn stays open.
let mut text = String::from("");
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n"); }
    if add_generation_prompt { text += "<|im_start|>assistant\n<|im_end|>\n"; }
    text
