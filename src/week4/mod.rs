//! Provided. Week 4: under the hood. The same model as tensors with strides, and as a graph.
