//! A graphics processor for both engines: what surrounds week 4's kernels and is no task of day 5.
//!
//! In reading order: `device` (an adapter is found and opened), `memory` (buffers, and bytes on
//! their way there and back), `check` (WGSL is read before any device sees it), `kernel` (compiled
//! WGSL), `pass` (kernels recorded one after the other, submitted at once).
//!
//! The words in brackets are those of Apple's Metal.
//!
//! This is the only crate that uses wgpu, and only the feature `gpu` builds it. naga reads each kernel
//! before a device does. A lost device, missing memory or a missing limit is an error of one line that
//! names the node and the bytes.

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
