//! function: chatml
//! how: an iterator over lines, with the generation prompt as one more
    let message = |message: &Message| format!("<|im_start|>{}\n{}<|im_end|>\n", message.role, message.content);
    let prompt = add_generation_prompt.then(|| "<|im_start|>assistant\n".to_owned());
    messages.iter().map(message).chain(prompt).collect()
