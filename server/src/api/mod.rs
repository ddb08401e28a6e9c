//! OpenAI's API: requests and answers.

pub(crate) mod answer;
mod calls;
mod chat;
mod constraint;
pub(crate) mod error;
mod fields;
mod holdback;
pub(crate) mod kind;
mod logprobs;
pub(crate) mod request;
pub(crate) mod stream;
pub(crate) mod text;
