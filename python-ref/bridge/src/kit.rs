//! Provided code that both solutions use: configuration, tokenizer, chat template.

use std::{collections::HashMap, path::PathBuf};

use anyhow::{Context as _, ensure};
use tiny_llm_formats::{
    chat::Message,
    config, hub,
    text::{self, ChatTemplate},
};

use crate::prelude::*;

exports! { fn locate; class ModelConfig, Tokenizer; }

/// Returns the path of a model. `model` is an existing path, or a name that is looked up in the
/// cache of Hugging Face's tools. A name is `OWNER/NAME[@REVISION][:FILE]`.
#[pyfunction]
fn locate(model: PathBuf) -> PyResult<String> {
    located(model).map(|path| path.to_string_lossy().into_owned())
}

/// Works like [`locate`], for functions that take a model.
pub(crate) fn located(model: PathBuf) -> PyResult<PathBuf> {
    hub::locate(&model).map_err(value_error)
}

/// The configuration of a decoder.
#[pyclass(frozen)]
pub(crate) struct ModelConfig(pub config::ModelConfig);

#[pymethods]
impl ModelConfig {
    /// Reads `config.json` and, if it exists, `generation_config.json`.
    #[staticmethod]
    fn from_folder(folder: PathBuf) -> PyResult<Self> {
        config::ModelConfig::from_folder(&located(folder)?).map(Self).map_err(value_error)
    }

    /// Parses `json`, the text of a `config.json`. Error messages name it as `file`.
    #[staticmethod]
    #[pyo3(signature = (json, file="config.json"))]
    fn from_json(json: &str, file: &str) -> PyResult<Self> {
        config::ModelConfig::from_json(json, file).map(Self).map_err(value_error)
    }

    /// Number of transformer blocks.
    #[getter]
    fn n_layers(&self) -> usize {
        self.0.n_layers
    }

    /// Number of tokens in the vocabulary, `V`.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.0.vocab_size
    }

    /// Maximum length of a sequence, in tokens.
    #[getter]
    fn max_positions(&self) -> usize {
        self.0.max_positions
    }

    /// Ids of the tokens that end a text.
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
    tokenizer: Arc<text::Tokenizer>,
    template: Option<ChatTemplate>,
    folder: PathBuf,
}

impl Tokenizer {
    /// Runs `work` on a worker thread, because a long text takes time. Its errors name `argument`.
    fn call<T: Send + 'static>(
        &self,
        argument: &str,
        work: impl FnOnce(&text::Tokenizer) -> anyhow::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let tokenizer = Arc::clone(&self.tokenizer);
        call(move || work(&tokenizer))?.map_err(wrong_argument(argument))
    }
}

#[pymethods]
impl Tokenizer {
    /// Reads a folder's `tokenizer.json`, and its chat template if there is one.
    #[staticmethod]
    fn from_folder(folder: PathBuf) -> PyResult<Self> {
        let folder = located(folder)?;
        let tokenizer = Arc::new(text::Tokenizer::from_folder(&folder).map_err(value_error)?);
        let template = ChatTemplate::from_folder(&folder).map_err(value_error)?;
        Ok(Self { tokenizer, template, folder })
    }

    /// Returns the ids of a text, without added tokens.
    fn encode(&self, text: String) -> PyResult<Vec<u32>> {
        self.call("text", move |tokenizer| tokenizer.encode(&text))
    }

    /// Returns the ids of a prompt. If the model has a token that begins every text, it comes
    /// first.
    fn encode_prompt(&self, text: String) -> PyResult<Vec<u32>> {
        self.call("text", move |tokenizer| tokenizer.encode_prompt(&text))
    }

    /// Returns the text of the tokens `ids`.
    fn decode(&self, ids: Ids<1>) -> PyResult<String> {
        self.call("ids", move |tokenizer| tokenizer.decode(&ids.to_vec()))
    }

    /// Returns the bytes that a token adds to a text. Returns no bytes for an unknown id.
    fn token_bytes(&self, id: Count) -> Vec<u8> {
        u32::try_from(id.0).map_or_else(|_| Vec::new(), |id| self.tokenizer.token_bytes(id))
    }

    /// Number of tokens, including added ones.
    #[getter]
    fn vocab_size(&self) -> usize {
        self.tokenizer.vocab_size()
    }

    /// Returns the text of a chat. `messages` are pairs of role and content.
    #[pyo3(signature = (messages, add_generation_prompt=false))]
    fn render_chat(
        &self,
        messages: Vec<(String, String)>,
        add_generation_prompt: bool,
    ) -> PyResult<String> {
        let Some(template) = &self.template else {
            let folder = self.folder.display();
            return Err(value_error(anyhow::anyhow!("{folder}: found no chat template")));
        };
        let rendered = template.render(&to_messages(messages), add_generation_prompt);
        rendered.map_err(wrong_argument("messages"))
    }

    fn __repr__(&self) -> String {
        format!(
            "Tokenizer({:?}, vocab_size={})",
            self.folder.display().to_string(),
            self.vocab_size()
        )
    }
}

pub(crate) fn to_messages(messages: Vec<(String, String)>) -> Vec<Message> {
    messages.into_iter().map(|(role, content)| Message { role, content }).collect()
}

/// Returns the array in `weights` that has this name.
///
/// # Errors
/// If there is no such array, or its shape is not `shape`.
pub(crate) fn named<'a>(
    weights: &'a HashMap<String, Floats>,
    name: &str,
    shape: &[usize],
) -> anyhow::Result<&'a Floats> {
    let weight = weights.get(name).with_context(|| format!("tensor {name}: not found"))?;
    let found = weight.0.shape();
    ensure!(found == shape, "tensor {name}: found shape {found:?}, expected {shape:?}");
    Ok(weight)
}
