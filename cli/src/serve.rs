//! `serve`: options, model and tokenizer of a server. The network code is in the crate
//! `tiny-llm-server`. Only a separate program, `tiny-llm-serve`, contains it. That program is built
//! when `serve` is first used.

use std::{process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Result, anyhow};
use clap::Parser as _;
use tiny_llm_formats::{chat::Message, text::Tokenizer};
use tiny_llm_schema::{Json, Style};

use super::{
    Batch, BatchOptions, Solution, WrongOption, form,
    interrupt::Caught,
    options::{ModelOption, absent, at_least_one, count},
    program::become_program,
    session::OpenedBatch,
    template::Template,
};

/// The program that runs the server.
#[derive(Clone, Copy)]
pub enum Server {
    /// This program itself, by calling this function.
    Here(fn(Opened, &Settings) -> Result<ExitCode>),
    /// A separate program, `tiny-llm-serve`, which cargo builds with these features.
    Built(&'static str),
}

/// Settings of a server.
#[derive(Debug, Clone, clap::Args)]
pub struct Settings {
    /// Address to listen on (0.0.0.0: all network interfaces)
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub host: String,
    /// Port to listen on (0: chosen by the system)
    #[arg(long, value_name = "N", default_value = "8080")]
    pub port: u16,
    /// Additional host name that clients may use (repeatable)
    #[arg(long = "allow-host", value_name = "NAME")]
    pub allow_hosts: Vec<String>,
    /// The model's name, as clients see it.
    #[arg(skip)]
    pub name: String,
    /// Number of batch slots.
    #[arg(skip)]
    pub max_batch: usize,
    /// Maximum waiting requests (beyond that, clients are told to retry later)
    #[arg(long, value_name = "N", default_value = "256", value_parser = count, allow_negative_numbers = true)]
    pub max_queue: usize,
    /// Maximum number of answers per request (the request's field `n`)
    #[arg(long, value_name = "N", default_value = "8", value_parser = at_least_one)]
    pub max_choices: usize,
    /// Maximum prompt length in tokens [default: the context]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_prompt: Option<usize>,
    /// Maximum size of a request body in bytes
    #[arg(long, value_name = "N", default_value = "1048576", value_parser = at_least_one)]
    pub max_body: usize,
    /// Maximum number of open connections
    #[arg(long, value_name = "N", default_value = "4096", value_parser = at_least_one)]
    pub max_connections: usize,
    /// Maximum unread tokens per client (beyond that, its answer is cut off)
    #[arg(long, value_name = "N", default_value = "2048", value_parser = at_least_one)]
    pub client_queue: usize,
    /// Timeout for a request's header, or for the next request on a connection.
    #[arg(skip = Duration::from_secs(10))]
    pub header_time: Duration,
    /// Timeout for a request's body.
    #[arg(skip = Duration::from_secs(30))]
    pub body_time: Duration,
    /// Timeout of a write. A client that accepts no byte for this long is disconnected.
    #[arg(skip = Duration::from_secs(30))]
    pub write_time: Duration,
    /// Seconds to wait for running requests at shutdown
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds, allow_negative_numbers = true)]
    pub grace: Duration,
    /// Key that clients must send, as `Authorization: Bearer KEY` [default: none]
    #[arg(long, value_name = "KEY")]
    pub api_key: Option<String>,
    /// Web origin whose pages may call the server (`*`: any) [default: none]
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Option<String>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    count(text).map(|seconds| Duration::from_secs(seconds as u64))
}

/// Decodes the text of an answer, token by token.
pub trait Text {
    /// Adds the bytes of the next token. Returns the text that later bytes can no longer change.
    fn push(&mut self, bytes: &[u8]) -> String;

    /// Returns the remaining text.
    fn finish(&mut self) -> String;
}

/// A function that returns the tokens of a conversation, ending where the answer begins. Its second
/// argument is the list of the request's tools.
pub type Render = Box<dyn Fn(&[Message], &[Json]) -> Result<Vec<u32>> + Send + Sync>;

/// An engine, with the functions that convert text to tokens and back.
pub struct Opened {
    /// The engine. It isn't `Send`, so it stays on the thread that opened it.
    pub batch: Box<dyn Batch>,
    /// Converts text to tokens.
    pub tokenizer: Arc<Tokenizer>,
    /// Converts conversations to tokens.
    pub render: Render,
    /// The model's syntax for tool calls.
    pub style: Style,
    /// Creates a decoder for the text of one answer.
    pub text: fn() -> Box<dyn Text>,
    /// Tokens that end an answer.
    pub stop_tokens: Vec<u32>,
    /// Maximum tokens of prompt and answer together.
    pub context: usize,
    /// Size of the vocabulary.
    pub vocabulary: usize,
    /// Returns the bytes of each token, for constrained answers.
    pub texts: Box<dyn Fn() -> Vec<Vec<u8>> + Send>,
    /// Short description of how the model is run.
    pub described: String,
    /// Returns whether the server must shut down.
    pub stop: Box<dyn Fn() -> bool + Send>,
}

#[derive(clap::Args)]
#[command(
    after_help = "Endpoints as in OpenAI's API: /v1/chat/completions, /v1/completions and /v1/models.\n\
    Other endpoints: /health, /metrics, /tokenize, /detokenize, and a web page at /.\n\
    A request that uses an unsupported option gets an error that names the option.\n\
    The chapter \"A server\" of the course's book lists the supported options.\n\n\
    If --gap is above 0, a second limit applies to each step with prompts: 2 × the time of a\n\
    step in which every slot decodes. The value of --gap does not change this second limit.\n\n\
    The environment variable TINY_LLM_API_KEY sets the key if --api-key is not given. The\n\
    variable is safer, because other users of this machine can see your command line.\n\n\
    On SIGTERM or Ctrl-C, the server refuses new requests, gives running ones --grace seconds\n\
    to finish, and exits with code 0.",
    mut_arg("gap", |gap| gap.default_value("3"))
)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// Model name shown to clients [default: the name in --model, or the last part of its path]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    batch: BatchOptions,
    #[command(flatten)]
    settings: Settings,
}

impl Args {
    /// Checks the settings. Adds those that depend on other options or on the environment.
    fn settings(&self) -> Result<Settings> {
        let mut settings = self.settings.clone();
        settings.name = self.name.clone().unwrap_or_else(|| self.model.name());
        settings.max_batch = self.batch.max_batch;
        settings.api_key = settings.api_key.or_else(|| std::env::var("TINY_LLM_API_KEY").ok());
        let wrong = |problem: &str| Err(WrongOption(problem.to_owned()).into());
        let visible =
            |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !settings.api_key.as_ref().is_none_or(visible) {
            return wrong("--api-key: expected at least one ASCII character, without spaces");
        }
        if !settings.cors.as_ref().is_none_or(visible) {
            return wrong("--cors: expected an origin such as https://example.org, or *");
        }
        Ok(settings)
    }
}

pub(super) fn run(solution: &Solution, args: Args, server: Server) -> Result<ExitCode> {
    let serve = match server {
        Server::Here(serve) => serve,
        Server::Built(features) => {
            // Report wrong options before anything is built.
            args.settings()?;
            args.model.for_batch()?;
            let build =
                ["--package", "tiny-llm", "--features", features, "--bin", "tiny-llm-serve"];
            return become_program(&build, std::env::args_os().skip(1));
        }
    };
    let (opened, settings) = open(solution, args)?;
    serve(opened, &settings)
}

/// Opens an engine and returns it with the server's settings, for programs without a command line.
/// `arguments` are written as on the command line, after `serve`.
///
/// # Errors
/// If an option is wrong, or the model cannot be opened.
pub fn open_for_server(solution: &Solution, arguments: &[String]) -> Result<(Opened, Settings)> {
    let words = std::iter::once("serve").chain(arguments.iter().map(String::as_str));
    let Alone { args } = Alone::try_parse_from(words).map_err(|error| {
        if let Some(absent) = absent(&error) {
            return anyhow!("{absent}");
        }
        // The error text ends with the usage of `serve`, which is removed.
        let text = error.to_string();
        let problem: Vec<&str> =
            text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        anyhow!("{}", problem.join(" ").trim_start_matches("error: "))
    })?;
    open(solution, args)
}

/// Parses the options of `serve` without the command name.
#[derive(clap::Parser)]
struct Alone {
    #[command(flatten)]
    args: Args,
}

fn open(solution: &Solution, args: Args) -> Result<(Opened, Settings)> {
    let settings = args.settings()?;
    let model = args.model.for_batch()?;
    let opened = OpenedBatch::open(solution, &model, args.batch)?;
    let OpenedBatch { batch, tokenizer, template, stop_tokens, described, context, vocabulary } =
        opened;
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
