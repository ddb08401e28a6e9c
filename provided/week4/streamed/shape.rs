//! The format of a streamed model's file.
//!
//! All numbers are little-endian. The header has [`HEADER`] bytes:
//!
//! | byte | what |
//! |---|---|
//! | 0 | [`MAGIC`] |
//! | 8 | [`VERSION`] |
//! | 12 | `V`, number of tokens, `E`, `H_q`, `H`, `D`, `I`, number of positions: 4 bytes each |
//! | 44 | the norms' epsilon, f32 |
//! | 48 | 12 zero bytes |
//! | 60 | 32-bit FNV-1a hash of all earlier bytes |
//!
//! The components follow in the order of [`Component`], row by row. A row of a matrix is its scale
//! (f32) and its int8 weights. The other components have only f32 elements.

use crate::week4::streamed::error::Error;

/// The first bytes of the file.
pub const MAGIC: [u8; 8] = *b"TINYINT8";

/// Version of the format.
pub const VERSION: u32 = 1;

/// Number of bytes before the first component.
pub const HEADER: usize = 64;

/// Sizes of a model with one layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// `V`, the number of rows of the embedding and of the head.
    pub vocabulary: usize,
    /// Number of the vocabulary's rows that are tokens. The other rows are padding.
    pub tokens: usize,
    /// `E`, the hidden size.
    pub hidden: usize,
    /// `H_q`, the number of query heads.
    pub heads: usize,
    /// `H`, the number of key and value heads.
    pub kv_heads: usize,
    /// `D`, the number of elements in a head.
    pub head_dim: usize,
    /// `I`, the size of the MLP.
    pub intermediate: usize,
    /// Maximum length of a text, in tokens.
    pub positions: usize,
    /// Epsilon of the norms.
    pub eps: f32,
}

/// Sizes of the model that day 7 streams.
pub const TINY_LLM: Shape = Shape {
    vocabulary: 32_000,
    tokens: 32_000,
    hidden: 192,
    heads: 2,
    kv_heads: 1,
    head_dim: 96,
    intermediate: 1024,
    positions: 1024,
    eps: 1e-5,
};

/// A component of the model, in the order in which the file stores them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Component {
    /// Embedding, `[V, E]`.
    Embedding,
    /// Cosines and sines of the RoPE angles in f32, `[positions, D]`: for each position, `D / 2`
    /// cosines, then `D / 2` sines.
    Rope,
    /// Weight of the RMSNorm before attention, in f32, `[1, E]`.
    AttentionNorm,
    /// Query projection, `[H_q · D, E]`.
    Query,
    /// Key projection, `[H · D, E]`.
    Key,
    /// Value projection, `[H · D, E]`.
    Value,
    /// Output projection, `[E, H_q · D]`.
    Output,
    /// Weight of the RMSNorm before the MLP, in f32, `[1, E]`.
    MlpNorm,
    /// Gate projection, `[I, E]`.
    Gate,
    /// Up projection, `[I, E]`.
    Up,
    /// Down projection, `[E, I]`.
    Down,
    /// Weight of the RMSNorm before the head, in f32, `[1, E]`.
    FinalNorm,
    /// Output head, `[V, E]`.
    Head,
}

impl Component {
    /// All components, in the order of the file.
    pub const ALL: [Self; 13] = [
        Self::Embedding,
        Self::Rope,
        Self::AttentionNorm,
        Self::Query,
        Self::Key,
        Self::Value,
        Self::Output,
        Self::MlpNorm,
        Self::Gate,
        Self::Up,
        Self::Down,
        Self::FinalNorm,
        Self::Head,
    ];

    /// Returns the component's name in error messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Embedding => "the embedding",
            Self::Rope => "the angles",
            Self::AttentionNorm => "the norm before attention",
            Self::Query => "q_proj",
            Self::Key => "k_proj",
            Self::Value => "v_proj",
            Self::Output => "o_proj",
            Self::MlpNorm => "the norm before the MLP",
            Self::Gate => "gate_proj",
            Self::Up => "up_proj",
            Self::Down => "down_proj",
            Self::FinalNorm => "the last norm",
            Self::Head => "the head",
        }
    }

    /// Returns whether the component is stored as int8, with a scale for each row.
    #[must_use]
    pub fn is_matrix(self) -> bool {
        !matches!(self, Self::Rope | Self::AttentionNorm | Self::MlpNorm | Self::FinalNorm)
    }
}

impl Shape {
    /// Returns a component's size: rows, then columns.
    #[must_use]
    pub fn size(&self, component: Component) -> (usize, usize) {
        let (hidden, queries) = (self.hidden, self.heads * self.head_dim);
        match component {
            Component::Embedding | Component::Head => (self.vocabulary, hidden),
            Component::Rope => (self.positions, self.head_dim),
            Component::AttentionNorm | Component::MlpNorm | Component::FinalNorm => (1, hidden),
            Component::Query => (queries, hidden),
            Component::Key | Component::Value => (self.kv_heads * self.head_dim, hidden),
            Component::Output => (hidden, queries),
            Component::Gate | Component::Up => (self.intermediate, hidden),
            Component::Down => (hidden, self.intermediate),
        }
    }

    /// Returns the size of a row in bytes. A row of a matrix has 4 bytes for its scale and one byte
    /// per weight. A row of another component has 4 bytes per f32 element.
    #[must_use]
    pub fn row_bytes(&self, component: Component) -> usize {
        let (_, cols) = self.size(component);
        if component.is_matrix() { 4 + cols } else { 4 * cols }
    }

    /// Returns the offset in the file at which a component's row begins, in bytes.
    #[must_use]
    pub fn place(&self, component: Component, row: usize) -> u64 {
        let mut at = HEADER as u64;
        for before in &Component::ALL[..component as usize] {
            at += self.size(*before).0 as u64 * self.row_bytes(*before) as u64;
        }
        at + row as u64 * self.row_bytes(component) as u64
    }

    /// Returns the size of the whole file, in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.place(Component::Head, self.vocabulary)
    }

    /// Encodes the sizes as a file's header.
    #[must_use]
    pub fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        for (i, size) in self.sizes().into_iter().enumerate() {
            header[12 + 4 * i..][..4].copy_from_slice(&(size as u32).to_le_bytes());
        }
        header[44..48].copy_from_slice(&self.eps.to_le_bytes());
        let sum = checksum(&header[..60]);
        header[60..].copy_from_slice(&sum.to_le_bytes());
        header
    }

    fn sizes(&self) -> [usize; 8] {
        [
            self.vocabulary,
            self.tokens,
            self.hidden,
            self.heads,
            self.kv_heads,
            self.head_dim,
            self.intermediate,
            self.positions,
        ]
    }

    /// Decodes and checks the header of a file of `len` bytes.
    ///
    /// # Errors
    /// If the bytes aren't a header, are damaged, or have impossible sizes. Also if the file's
    /// length doesn't match the sizes.
    pub fn from_header(header: &[u8; HEADER], len: u64) -> Result<Self, Error> {
        let number = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let check = |field, found: u64, expected: u64| {
            if found == expected { Ok(()) } else { Err(Error::File { field, found, expected }) }
        };
        let magic = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, b| sum << 8 | u64::from(*b));
        check("the first eight bytes", magic(&header[..8]), magic(&MAGIC))?;
        check("version", number(8).into(), VERSION.into())?;
        check("checksum of the header", number(60).into(), checksum(&header[..60]).into())?;
        let size = |i: usize| number(12 + 4 * i) as usize;
        let shape = Self {
            vocabulary: size(0),
            tokens: size(1),
            hidden: size(2),
            heads: size(3),
            kv_heads: size(4),
            head_dim: size(5),
            intermediate: size(6),
            positions: size(7),
            eps: f32::from_bits(number(44)),
        };
        const NAMES: [&str; 8] = [
            "rows of the vocabulary",
            "tokens",
            "hidden size",
            "query heads",
            "key/value heads",
            "head size",
            "intermediate size",
            "positions",
        ];
        // The limit is so small that no product of sizes overflows in the code below.
        const MOST: usize = 1 << 20;
        for (field, size) in NAMES.into_iter().zip(shape.sizes()) {
            check(field, size as u64, size.clamp(1, MOST) as u64)?;
        }
        check("tokens", shape.tokens as u64, shape.tokens.min(shape.vocabulary) as u64)?;
        check(
            "remainder of query heads divided by key/value heads",
            (shape.heads % shape.kv_heads) as u64,
            0,
        )?;
        check("remainder of head size / 2", (shape.head_dim % 2) as u64, 0)?;
        check(
            "numbers in all query heads, at most 2^20",
            (shape.heads * shape.head_dim) as u64,
            (shape.heads * shape.head_dim).min(MOST) as u64,
        )?;
        check("bytes of the file", len, shape.file_bytes())?;
        Ok(shape)
    }
}

/// Returns the 32-bit FNV-1a hash of `bytes`.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(0x811c_9dc5, step)
}
