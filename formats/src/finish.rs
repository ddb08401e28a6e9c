//! The reason why a text ended, shared by every engine, the command line and the server.

/// The reason why a generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// A stop token was chosen.
    Stop,
    /// The maximum number of new tokens was reached.
    Length,
    /// The context is full.
    ContextFull,
    /// The receiver of the tokens stopped the generation.
    Interrupted,
    /// The logits were NaN or infinite.
    NotFinite,
}
