//! The two kinds of requests, and the differences between their answers.

/// The endpoint that received a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/completions`
    Completion,
}

impl Kind {
    /// Returns the prefix of a response's id.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Chat => "chatcmpl",
            Self::Completion => "cmpl",
        }
    }

    /// Returns the field `object` of a response, or of a chunk if `stream` is true.
    pub(crate) fn object(self, stream: bool) -> &'static str {
        match (self, stream) {
            (Self::Chat, false) => "chat.completion",
            (Self::Chat, true) => "chat.completion.chunk",
            (Self::Completion, _) => "text_completion",
        }
    }
}
