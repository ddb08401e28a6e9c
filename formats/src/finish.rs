//! Why a text ended: a word that every engine, the command line and a server have in common.

/// Why a generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// A stop token was chosen.
    Stop,
    /// The maximum number of new tokens was reached.
    Length,
    /// The context is full.
    ContextFull,
    /// The receiver of the tokens ended the answer.
    Interrupted,
    /// Its logits were NaN or infinite.
    NotFinite,
}
