//! `generate`: continues a text.

use std::process::ExitCode;

use anyhow::Result;

use super::{
    Solution,
    form::FormOptions,
    input, interrupt,
    options::{ModelOption, SamplingOptions, SpeedOptions, count},
    output::{Output, note},
    session::Session,
};

#[derive(clap::Args)]
#[command(
    after_help = "The prompt is continued as plain text. To talk to a chat model, use `chat`.\n\
              If the tokenizer requires a start token (Llama), the command adds it.\n\
              A line break at the end of standard input is removed.\n\
              With --raw, the command adds no start token and keeps the line break.\n\n\
              Exit codes: 0 (success), 1 (error), 2 (invalid option), 101 (a task of the course is\n\
              not solved yet), 130 (interrupted by Ctrl-C)."
)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// Text to continue [default: standard input]
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// Maximum new tokens
    #[arg(short = 'n', long, value_name = "N", default_value = "128", value_parser = count, allow_negative_numbers = true)]
    max_new_tokens: usize,
    #[command(flatten)]
    sampling: SamplingOptions,
    #[command(flatten)]
    speed: SpeedOptions,
    #[command(flatten)]
    form: FormOptions,
    /// Use the prompt unchanged: add no start token, keep a final line break
    #[arg(long)]
    raw: bool,
    /// Print the prompt before its continuation
    #[arg(long)]
    echo: bool,
    /// Do not print speeds or the reason why the text ended
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(solution: &Solution, args: Args) -> Result<ExitCode> {
    let prompt = input::prompt(args.prompt, args.raw)?;
    let (form, option) = args.form.form()?.unzip();
    let mut session = Session::open(solution, &args.model.with_speed(args.speed)?.formed(option)?)?;
    let tokens = if args.raw {
        session.tokenizer.encode(&prompt)?
    } else {
        session.tokenizer.encode_prompt(&prompt)?
    };
    let request = session.request(tokens, args.max_new_tokens, &args.sampling);
    let form = session.prepare(form);

    let mut output = Output::new();
    if args.echo {
        output.write(&prompt);
    }
    let (model, mut answer) = session.answer(&request.prompt)?;
    let finish = model.generate(&request, form.as_ref(), &mut |token| {
        answer.token(token, |text| output.stream(text))
    })?;
    let generated = answer.end(finish, |text| output.stream(text));
    output.end_line();
    if !args.quiet {
        let speed = generated.speed;
        note(&format!(
            "load     {:.3} s · {}",
            session.load.as_secs_f64(),
            session.model.about().described
        ));
        note(&format!("prefill  {}", speed.first_token_text()));
        note(&format!("decode   {}", speed.decode_text()));
        for (word, text) in session.model.savings() {
            note(&format!("{word:<8} {text}"));
        }
        note(&format!("finish   {}", session.describe(&generated)));
    }
    output.result()?;
    Ok(interrupt::exit_code(generated.interrupted))
}
