//! Why a text ended: a word that every engine, the command line and a server have in common.

/// Why a generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// A stop token was chosen.
    Stop,
    /// As many new tokens were generated as were asked for.
    Length,
    /// The context is full.
    ContextFull,
    /// Whoever received the tokens asked to end.
    Interrupted,
    /// Its logits were NaN or infinite.
    NotFinite,
}
