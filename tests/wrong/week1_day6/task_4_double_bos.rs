//! id: double-bos
//! function: chatml
//! says: The template of this model adds nothing in front.
let mut text = String::from("<|endoftext|>");
    for Message { role, content } in messages { let content = content; text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n"); }
    if add_generation_prompt { text += "<|im_start|>assistant\n"; }
    text
