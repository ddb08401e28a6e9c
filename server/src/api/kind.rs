//! The two kinds of requests, and what differs between their answers.

/// Which interface a request came by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/completions`
    Completion,
}

impl Kind {
    /// What an answer's name begins with.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Chat => "chatcmpl",
            Self::Completion => "cmpl",
        }
    }

    /// What an answer, or a piece of one, says that it is.
    pub(crate) fn object(self, stream: bool) -> &'static str {
        match (self, stream) {
            (Self::Chat, false) => "chat.completion",
            (Self::Chat, true) => "chat.completion.chunk",
            (Self::Completion, _) => "text_completion",
        }
    }
}
