//! Week 1, file by file as in the solution.

pub(crate) use super::rust::week1 as rust;
use crate::prelude::*;

mod attention;
mod chat;
pub(super) mod generate;
mod gqa;
mod mlp;
mod model;
mod norm;
mod rope;
pub(crate) mod sampling;
mod stream;
mod weights;

exports! {
    module attention, rope, gqa, norm, mlp, model, weights, generate, stream, chat, sampling;
}
