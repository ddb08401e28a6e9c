//! Week 2, file by file as in the solution.

pub(crate) use super::rust::week2 as rust;
use crate::prelude::*;

mod attention;
pub(crate) mod blocks;
pub(crate) mod cache;
mod generate;
mod gguf;
mod input;
mod kernels;
pub(crate) mod model;
mod recipe;
mod roofline;
mod streaming;
mod writer;

exports! {
    module cache, attention, model, generate, gguf, roofline, blocks, recipe, writer, input,
        kernels, streaming;
}
