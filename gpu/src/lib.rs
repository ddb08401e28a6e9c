//! Access to a GPU, for your engine and the reference's: everything that week 4's kernels need,
//! except the tasks of day 5.
//!
//! In reading order: `device` (finds and opens an adapter), `memory` (buffers, uploads, downloads),
//! `check` (validates WGSL without a device), `kernel` (compiles WGSL), `pass` (records kernels and
//! submits them together).
//!
//! The comments also give the names that Apple's Metal uses, in parentheses.
//!
//! This is the only crate that uses wgpu, and it is built only with the feature `gpu`. naga checks
//! each kernel before a device compiles it. If the device is lost, memory runs out or a limit is
//! too low, the error is one line. If an allocation fails, this line gives the number of bytes. The
//! caller adds the graph's node to the error.

mod check;
mod device;
mod kernel;
mod memory;
mod pass;

pub use check::check;
pub use device::{About, Gpu, Needs, OutOfMemory};
pub use kernel::Kernel;
pub use memory::{ALIGNMENT, Buffer, bytes_of};
pub use pass::Pass;
