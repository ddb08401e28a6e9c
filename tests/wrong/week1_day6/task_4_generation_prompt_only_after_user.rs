//! id: generation-prompt-only-after-user
//! function: chatml
//! says: You open the assistant's turn only after some messages; it depends on `add_generation_prompt` alone, not on who spoke last.
    let mut text = String::new();
    for Message { role, content } in messages {
        text += &format!("<|im_start|>{role}\n{content}<|im_end|>\n");
    }
    if add_generation_prompt && messages.last().is_some_and(|message| message.role == "user") {
        text += "<|im_start|>assistant\n";
    }
    text
