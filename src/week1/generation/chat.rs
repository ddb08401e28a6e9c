//! Day 6. A chat is one text: a template marks where each message begins and ends.
//!
//! Tasks here: week1-day6 task 4 (`chatml`). Everything else is provided.

use tiny_llm_formats::chat::Message;

/// Formats `messages` as ChatML. Each message becomes `<|im_start|>ROLE\nCONTENT<|im_end|>\n`. If
/// `add_generation_prompt` is true, appends `<|im_start|>assistant\n`, so that the model continues
/// with the assistant's answer.
pub fn chatml(messages: &[Message], add_generation_prompt: bool) -> String {
    todo!("week1-day6 task 4: chatml")
}
