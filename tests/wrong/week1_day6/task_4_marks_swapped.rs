//! id: marks-swapped
//! function: chatml
//! says: im_start before, im_end after.
let mut text = String::new();
    for Message { role, content } in messages { text += &format!("<|im_end|>{role}\n{content}<|im_start|>\n"); }
    if add_generation_prompt { text += "<|im_start|>assistant\n"; }
    text
