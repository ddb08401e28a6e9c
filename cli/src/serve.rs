//! `serve`: options, model and tokenizer of a server. The network is the crate `tiny-llm-server`'s,
//! and a program of its own has it: whoever asks for no server builds none.

use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Result, anyhow};
use clap::Parser as _;
use tiny_llm_formats::{chat::Message, text::Tokenizer};
use tiny_llm_schema::{Json, Style};

use super::{
    Batch, BatchOptions, Draft, Solution, WrongOption,
    batch::{budget, places},
    form,
    interrupt::Caught,
    options::{ModelOption, at_least_one, count},
    session::{Session, check_draft},
    template::Template,
};

/// Who serves.
#[derive(Clone, Copy)]
pub enum Server {
    /// This program, by this function.
    Here(fn(Opened, &Settings) -> Result<ExitCode>),
    /// Another one, `tiny-llm-serve`, which cargo builds with these features.
    Built(&'static str),
}

/// What a server keeps to.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address to listen at.
    pub host: String,
    /// Port; 0 lets the system choose one.
    pub port: u16,
    /// What the model is called.
    pub name: String,
    /// Requests that are computed at once.
    pub max_batch: usize,
    /// Requests that wait, at most.
    pub max_queue: usize,
    /// Answers that one request asks for, at most.
    pub max_choices: usize,
    /// Tokens of a prompt, at most; `None` is as many as the context holds.
    pub max_prompt: Option<usize>,
    /// Bytes of a request's body, at most.
    pub max_body: usize,
    /// Connections at once, at most.
    pub max_connections: usize,
    /// Tokens that wait for a client to read them, at most.
    pub client_queue: usize,
    /// For a request's header to come, or a connection's next request.
    pub header_time: Duration,
    /// For a request's body to come.
    pub body_time: Duration,
    /// For a client to take any byte of what is sent to it.
    pub write_time: Duration,
    /// For running requests to end, once the server is told to.
    pub grace: Duration,
    /// What clients must present.
    pub api_key: Option<String>,
    /// Whose pages may call the server from a browser: an origin, or `*`.
    pub cors: Option<String>,
}

/// The text of an answer, as its tokens come.
pub trait Text {
    /// Takes the bytes of the next token and returns the text that is now certain.
    fn push(&mut self, bytes: &[u8]) -> String;

    /// The text that was still held back.
    fn finish(&mut self) -> String;
}

/// A conversation's tokens, ending where the answer begins, with tools that may be called, each as a
/// request has it.
pub type Render = Box<dyn Fn(&[Message], &[Json]) -> Result<Vec<u32>> + Send + Sync>;

/// An engine, and what turns text into its tokens and back.
pub struct Opened {
    /// The engine. It stays on the thread that has it.
    pub batch: Box<dyn Batch>,
    /// Text to tokens.
    pub tokenizer: Arc<Tokenizer>,
    /// Conversations to tokens.
    pub render: Render,
    /// How the model writes that it calls a tool.
    pub style: Style,
    /// Tokens to text, for one answer.
    pub text: fn() -> Box<dyn Text>,
    /// Each of these ends an answer.
    pub stop_tokens: Vec<u32>,
    /// Longest sequence, prompt and answer together, in tokens.
    pub context: usize,
    /// Tokens that there are.
    pub vocabulary: usize,
    /// The bytes of each of them, for answers that have a form.
    pub texts: Box<dyn Fn() -> Vec<Vec<u8>> + Send>,
    /// How the model is run, in a few words.
    pub described: String,
    /// Whether the server is to end.
    pub stop: Box<dyn Fn() -> bool + Send>,
}

#[derive(clap::Args)]
#[command(
    after_help = "Speaks OpenAI's interface: /v1/chat/completions, /v1/completions, /v1/models; beside it /health, /metrics, \
/tokenize, /detokenize, and a page at /. What it does not support it refuses by name. The book's chapter \"A server\" says what that is.\n\n\
TINY_LLM_API_KEY is the key that clients must present, where --api-key does not say: a command line is seen by everybody on the machine.\n\n\
Ends on SIGTERM or Ctrl-C: nothing new is taken, what runs may end within --grace seconds, and the exit code is 0."
)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// Address to listen at; 0.0.0.0 is every one that this machine has
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: String,
    /// Port; 0 lets the system choose one
    #[arg(long, value_name = "N", default_value = "8080")]
    port: u16,
    /// What the model is called [default: its file's or folder's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Requests that are computed at once
    #[arg(long, value_name = "N", default_value = "16", value_parser = places)]
    max_batch: usize,
    /// Requests that wait for a place, at most; more are told to come again
    #[arg(long, value_name = "N", default_value = "256", value_parser = count, allow_negative_numbers = true)]
    max_queue: usize,
    /// Rows a step at most, of prompts and answers together; 0 is no limit [default: 512 once day 2 is written]
    #[arg(long, value_name = "ROWS", value_parser = budget, allow_negative_numbers = true)]
    budget: Option<usize>,
    /// While somebody's answer is written, a step takes at most so many times as long as one of all such answers alone, and twice as long as
    /// one with every place taken, as measured here, so that a long prompt makes nobody wait much longer for a token; 0 is no such limit
    #[arg(long, value_name = "N", default_value = "3", value_parser = count, allow_negative_numbers = true)]
    gap: usize,
    /// Keep keys and values in so many pages of 32 positions, instead of a whole context for each
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pages: Option<usize>,
    /// Remember the pages of prompts, so that a request computes only what no other has; needs --pages
    #[arg(long, requires = "pages")]
    share_prefixes: bool,
    /// Let a smaller model (folder or GGUF file) propose tokens, or `lookup`: the text so far
    #[arg(long, value_name = "MODEL")]
    draft: Option<Draft>,
    /// Answers that one request may ask for (`n`), at most
    #[arg(long, value_name = "N", default_value = "8", value_parser = at_least_one)]
    max_choices: usize,
    /// Tokens of a prompt, at most [default: the context]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    max_prompt: Option<usize>,
    /// Bytes of a request's body, at most
    #[arg(long, value_name = "N", default_value = "1048576", value_parser = at_least_one)]
    max_body: usize,
    /// Connections at once, at most
    #[arg(long, value_name = "N", default_value = "4096", value_parser = at_least_one)]
    max_connections: usize,
    /// Tokens that may wait for a slow reader; with more its answer ends
    #[arg(long, value_name = "N", default_value = "2048", value_parser = at_least_one)]
    client_queue: usize,
    /// Seconds that running requests have to end in, once the server is told to
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = count, allow_negative_numbers = true)]
    grace: usize,
    /// Clients must present this key, as `Authorization: Bearer KEY`
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// Let pages from this origin (or `*`, any) call the server from a browser
    #[arg(long, value_name = "ORIGIN")]
    cors: Option<String>,
}

impl Args {
    fn settings(&self) -> Result<Settings> {
        let api_key = self.api_key.clone().or_else(|| std::env::var("TINY_LLM_API_KEY").ok());
        let wrong = |problem: &str| Err(WrongOption(problem.to_owned()).into());
        if api_key
            .as_ref()
            .is_some_and(|key| key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return wrong("--api-key: expected one letter at least, of ASCII without spaces");
        }
        let origin =
            |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !self.cors.as_ref().is_none_or(origin) {
            return wrong("--cors: expected an origin, as https://example.org, or *");
        }
        let path = self.model.path();
        let path = path.canonicalize().unwrap_or(path);
        let name = if path.is_file() { path.file_stem() } else { path.file_name() };
        let name = name.map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into());
        Ok(Settings {
            host: self.host.clone(),
            port: self.port,
            name: self.name.clone().unwrap_or(name),
            max_batch: self.max_batch,
            max_queue: self.max_queue,
            max_choices: self.max_choices,
            max_prompt: self.max_prompt,
            max_body: self.max_body,
            max_connections: self.max_connections,
            client_queue: self.client_queue,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            grace: Duration::from_secs(self.grace as u64),
            api_key,
            cors: self.cors.clone(),
        })
    }
}

pub(super) fn run(solution: &Solution, args: Args, server: Server) -> Result<ExitCode> {
    let serve = match server {
        Server::Here(serve) => serve,
        Server::Built(features) => {
            // What is wrong with the options is said before anything is built.
            args.settings()?;
            args.model.for_batch()?;
            return become_server(features);
        }
    };
    let (opened, settings) = open(solution, args)?;
    serve(opened, &settings)
}

/// An engine and what a server of it keeps to, from the options that `serve` has: for programs that
/// have no command line.
///
/// # Errors
/// If an option is wrong, or the model cannot be opened.
pub fn open_for_server(solution: &Solution, arguments: &[String]) -> Result<(Opened, Settings)> {
    let words = std::iter::once("serve").chain(arguments.iter().map(String::as_str));
    let Alone { args } = Alone::try_parse_from(words).map_err(|error| {
        // The usage that follows is the command's.
        let text = error.to_string();
        let problem: Vec<&str> =
            text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        anyhow!("{}", problem.join(" ").trim_start_matches("error: "))
    })?;
    open(solution, args)
}

/// The options without the command.
#[derive(clap::Parser)]
struct Alone {
    #[command(flatten)]
    args: Args,
}

fn open(solution: &Solution, args: Args) -> Result<(Opened, Settings)> {
    let settings = args.settings()?;
    let model = args.model.for_batch()?;
    let path = model.path();
    let (session, template) = Session::open_for_chat(solution, &model)?;
    let (loaded, tokenizer, stop_tokens) = session.into_parts();
    let (described, config) = (loaded.about().described, loaded.config());
    let (context, vocabulary) = (config.max_positions, config.vocab_size);
    let tokenizer = Arc::new(tokenizer);
    let template = Template::of(template, solution.chatml, &path, &tokenizer);
    let bytes = Arc::clone(&tokenizer);
    let Args { max_batch, budget, gap, pages, share_prefixes, draft, .. } = args;
    if let Some(Draft::Model(draft)) = &draft {
        check_draft(solution, draft, &path, &tokenizer, vocabulary)?;
    }
    let options = BatchOptions { max_batch, budget, gap, pages, share_prefixes, draft };
    let batch = loaded.into_batch(options, Box::new(move |token| bytes.token_bytes(token)))?;
    let (words, meanings) = (Arc::clone(&tokenizer), Arc::clone(&tokenizer));
    let caught = Caught::new();
    let opened = Opened {
        batch,
        tokenizer,
        style: template.as_ref().map_or(Style::PLAIN, Template::style),
        render: Box::new(move |messages, tools| match &template {
            Ok(template) => template.tokens_with(messages, tools, &words),
            Err(error) => Err(anyhow!("{error:#}")),
        }),
        text: solution.text,
        stop_tokens,
        texts: Box::new(move || form::texts(&meanings, vocabulary)),
        context,
        vocabulary,
        described,
        stop: Box::new(move || caught.requested()),
    };
    Ok((opened, settings))
}

/// Builds the program that has the network, if need be, and becomes it, with the same words.
fn become_server(features: &str) -> Result<ExitCode> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let manifest = here.parent().unwrap_or(&here).join("Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = std::process::Command::new(cargo);
    command
        .args(["run", "--quiet", "--release", "--config", "term.progress.when='always'"])
        .args(["--config", "term.progress.width=80", "--package", "tiny-llm"])
        .args(["--features", features, "--bin", "tiny-llm-serve", "--manifest-path"])
        .arg(manifest)
        .arg("--")
        .args(std::env::args_os().skip(1));
    let failed = |e: std::io::Error| {
        anyhow!("this program was built without the network, and cargo cannot be started: {e}")
    };
    // On Unix it takes this one's place, so that signals reach it alone.
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        Err(failed(command.exec()))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().map_err(failed)?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
