//! What both solutions use and no task teaches: configuration, tokenizer, chat template.

use std::path::PathBuf;

use pyo3::prelude::*;
use tiny_llm_formats::{
    chat::Message,
    config,
    text::{self, ChatTemplate},
};

use crate::{convert::Ids, panics::value_error};

pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<ModelConfig>()?;
    m.add_class::<Tokenizer>()
}

#[pyclass(frozen)]
pub(crate) struct ModelConfig(pub config::ModelConfig);

#[pymethods]
impl ModelConfig {
    #[staticmethod]
    fn from_folder(folder: PathBuf) -> PyResult<Self> {
        config::ModelConfig::from_folder(&folder).map(Self).map_err(value_error)
    }

    #[staticmethod]
    #[pyo3(signature = (json, file="config.json"))]
    fn from_json(json: &str, file: &str) -> PyResult<Self> {
        config::ModelConfig::from_json(json, file).map(Self).map_err(value_error)
    }

    #[getter]
    fn n_layers(&self) -> usize {
        self.0.n_layers
    }

    #[getter]
    fn vocab_size(&self) -> usize {
        self.0.vocab_size
    }

    #[getter]
    fn max_positions(&self) -> usize {
        self.0.max_positions
    }

    #[getter]
    fn eos_token_ids(&self) -> Vec<u32> {
        self.0.eos_token_ids.clone()
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A model folder's tokenizer and chat template.
#[pyclass(frozen)]
pub(crate) struct Tokenizer {
    pub tokenizer: text::Tokenizer,
    template: Option<ChatTemplate>,
}

#[pymethods]
impl Tokenizer {
    #[staticmethod]
    pub(crate) fn from_folder(folder: PathBuf) -> PyResult<Self> {
        let tokenizer = text::Tokenizer::from_folder(&folder).map_err(value_error)?;
        Ok(Self { tokenizer, template: ChatTemplate::from_folder(&folder).map_err(value_error)? })
    }

    fn encode(&self, text: &str) -> PyResult<Vec<u32>> {
        self.tokenizer.encode(text).map_err(value_error)
    }

    fn encode_prompt(&self, text: &str) -> PyResult<Vec<u32>> {
        self.tokenizer.encode_prompt(text).map_err(value_error)
    }

    fn decode(&self, ids: Ids<1, 1>) -> PyResult<String> {
        self.tokenizer.decode(&ids.to_vec()).map_err(value_error)
    }

    fn token_bytes(&self, id: u32) -> Vec<u8> {
        self.tokenizer.token_bytes(id)
    }

    #[getter]
    fn vocab_size(&self) -> usize {
        self.tokenizer.vocab_size()
    }

    /// `messages` are pairs of role and content.
    #[pyo3(signature = (messages, add_generation_prompt=false))]
    fn render_chat(
        &self,
        messages: Vec<(String, String)>,
        add_generation_prompt: bool,
    ) -> PyResult<String> {
        let Some(template) = &self.template else {
            return Err(value_error(anyhow::anyhow!("this model folder has no chat template")));
        };
        template.render(&to_messages(messages), add_generation_prompt).map_err(value_error)
    }
}

pub(crate) fn to_messages(messages: Vec<(String, String)>) -> Vec<Message> {
    messages.into_iter().map(|(role, content)| Message { role, content }).collect()
}
