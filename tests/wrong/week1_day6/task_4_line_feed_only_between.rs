//! id: line-feed-only-between
//! function: chatml
//! says: A line feed is missing after <|im_end|>; each message ends with one, the last too.
    let messages = messages.iter().map(|Message { role, content }| format!("<|im_start|>{role}\n{content}<|im_end|>"));
    let mut parts: Vec<String> = messages.collect();
    if add_generation_prompt {
        parts.push("<|im_start|>assistant\n".to_owned());
    }
    parts.join("\n")
