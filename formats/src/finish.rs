//! The reasons why a generation ends. Every engine, the command line and the server share this
//! type.

/// The reason why a generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// A stop token was chosen, a stop text was completed, or a constraint allows nothing more.
    Stop,
    /// The maximum number of new tokens was reached, or a constrained answer ended early to stay
    /// within it.
    Length,
    /// The context is full.
    ContextFull,
    /// The receiver of the tokens stopped the generation or disconnected.
    Interrupted,
    /// The logits were NaN or infinite.
    NotFinite,
}
