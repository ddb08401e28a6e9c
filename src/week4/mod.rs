//! Provided. Week 4: under the hood. The same model as tensors with strides, and as a graph.
//!
//! In reading order: `layout` (where elements lie), `views` (other tensors in the same bytes),
//! `strided` (bytes and a layout), `contiguous` (when elements follow one another), `product`.

pub mod contiguous;
pub mod layout;
pub mod product;
pub mod strided;
pub mod views;
