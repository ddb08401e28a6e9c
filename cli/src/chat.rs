//! `chat`: a conversation. For each turn, all messages so far become one prompt.

use std::{
    io::{self, IsTerminal},
    process::ExitCode,
};

use anyhow::Result;

use super::{
    Solution,
    form::FormOptions,
    input, interrupt,
    options::{ModelOption, SamplingOptions, SpeedOptions, count},
    output::{self, Output, note},
    session::Session,
    template::Template,
};
use tiny_llm_formats::{chat::Message, text::Tokenizer};

#[derive(clap::Args)]
#[command(after_help = "Each line of input is a message. Empty lines are ignored.\n\
              /clear starts a new conversation. /exit, or the end of the input, ends the chat.\n\
              Ctrl-C during an answer stops that answer. A second Ctrl-C, or Ctrl-C at the prompt,\n\
              ends the chat with exit code 130.")]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// System message: instructions before the conversation
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    system: Option<String>,
    /// Maximum new tokens per answer
    #[arg(short = 'n', long, value_name = "N", default_value = "256", value_parser = count, allow_negative_numbers = true)]
    max_new_tokens: usize,
    #[command(flatten)]
    sampling: SamplingOptions,
    #[command(flatten)]
    speed: SpeedOptions,
    #[command(flatten)]
    form: FormOptions,
    /// Send each line alone, without the chat template or earlier messages
    #[arg(long, conflicts_with = "system")]
    raw: bool,
    /// Do not print speeds or the reason why the answer ended
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(solution: &Solution, args: Args) -> Result<ExitCode> {
    let (form, option) = args.form.form()?.unzip();
    let model = args.model.with_speed(args.speed)?.formed(option)?;
    let (mut session, template) = if args.raw {
        (Session::open(solution, &model)?, None)
    } else {
        let (session, own) = Session::open_for_chat(solution, &model)?;
        let template = Template::of(own, solution.chatml, &model.path(), &session.tokenizer)?;
        (session, Some(template))
    };
    let form = session.prepare(form);
    let mut conversation = Conversation {
        system: args.system.map(|text| Message::new("system", &text)),
        messages: Vec::new(),
    };
    let interactive = io::stdin().is_terminal();
    let (mut lines, mut output) = (input::Lines::new(), Output::new());

    loop {
        if interactive {
            output::prompt("> ");
        }
        let Some(line) = lines.next()? else { break };
        match line.trim() {
            "" => continue,
            "/exit" => break,
            "/clear" => {
                conversation.messages.clear();
                continue;
            }
            _ => {}
        }
        let answer =
            conversation.prompt(template.as_ref(), &session.tokenizer, &line).and_then(|prompt| {
                let request = session.request(prompt, args.max_new_tokens, &args.sampling);
                let (model, mut answer) = session.answer(&request.prompt)?;
                let finish = model.generate(&request, form.as_ref(), &mut |token| {
                    answer.token(token, |text| output.stream(text))
                })?;
                Ok(answer.end(finish, |text| output.stream(text)))
            });
        let generated = match answer {
            Ok(generated) => generated,
            // A user at a terminal can shorten the message or use /clear, but a script cannot.
            Err(error) if interactive => {
                note(&format!(
                    "{}; /clear forgets the conversation",
                    output::one_line(&format!("{error:#}"))
                ));
                continue;
            }
            Err(error) => return Err(error),
        };
        output.end_line();
        if !args.quiet {
            let speed = generated.speed;
            let mut parts = vec![
                format!("prefill {}", speed.prefill_text()),
                format!("decode {}", speed.decode_text()),
            ];
            let savings = session.model.savings();
            parts.extend(savings.into_iter().map(|(word, text)| format!("{word} {text}")));
            parts.push(session.describe(&generated));
            note(&format!("[{}]", parts.join(" · ")));
        }
        if !output.is_open() || (generated.interrupted && !interactive) {
            output.result()?;
            return Ok(interrupt::exit_code(generated.interrupted));
        }
        conversation.messages.push(Message::new("user", &line));
        conversation.messages.push(Message::new("assistant", &generated.text));
    }
    if interactive {
        note("");
    }
    output.result()?;
    Ok(ExitCode::SUCCESS)
}

/// The messages of the conversation so far.
struct Conversation {
    system: Option<Message>,
    messages: Vec<Message>,
}

impl Conversation {
    /// Returns the tokens of the conversation and a new message with the text `line`, ending where
    /// the answer begins. Without a template, returns only the tokens of `line`.
    fn prompt(
        &self,
        template: Option<&Template>,
        tokenizer: &Tokenizer,
        line: &str,
    ) -> Result<Vec<u32>> {
        let Some(template) = template else { return tokenizer.encode(line) };
        let user = Message::new("user", line);
        let messages: Vec<_> =
            self.system.iter().chain(&self.messages).chain([&user]).cloned().collect();
        template.tokens(&messages, tokenizer)
    }
}
