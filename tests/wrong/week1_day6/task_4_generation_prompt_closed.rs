//! id: generation-prompt-closed
//! function: chatml
//! says: You close the assistant's turn in the generation prompt; it stays open, for the model writes on there and closes it itself.
    let mut text = String::new();
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n");
    }
    if add_generation_prompt {
        text += "<|im_start|>assistant\n<|im_end|>\n";
    }
    text
