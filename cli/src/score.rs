//! `score`: scores a model's greedy answers to questions about held-out stories, and measures the
//! model's perplexity on such stories. With `--tools`, scores only tool calls: greedy and sampled,
//! with a constraint and without.

use std::{
    collections::BTreeMap,
    fmt::Write,
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Result, anyhow};
use serde_json::{Value, json};
use tiny_llm_formats::request::{Request, SamplerOptions};
use tiny_llm_schema::{Json, Shape, Style, Tool};

use super::{
    Form, Solution, interrupt,
    lines::read_lines,
    options::{ModelOption, at_least_one, embedded},
    output::{Output, note},
    perplexity::{self, Likelihood},
    session::Session,
};

/// Maximum number of tokens in an answer. Every correct answer is shorter.
const MAX_ANSWER: usize = 48;

#[derive(clap::Args)]
#[command(
    after_help = "An answer is correct if its first line is the expected text. White space around it is\n\
              ignored.\n\n\
              Perplexity is exp(mean negative log-likelihood per token). The first token of a\n\
              story is not counted. The end token is counted.\n\n\
              scores.json, next to the file of questions, has the scores of random guesses."
)]
pub(super) struct Args {
    #[command(flatten)]
    model: ModelOption,
    /// File of questions: kind, prompt, answer on each line [default: models/eval/questions.jsonl]
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// File of stories: one {"text": …} per line [default: models/eval/stories.jsonl]
    #[arg(long, value_name = "FILE")]
    stories: Option<PathBuf>,
    /// Maximum number of stories, and of questions of each kind [default: all]
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Score only tool calls, with and without a schema: how many are exact or fit the schema
    #[arg(long, conflicts_with_all = ["stories", "json"])]
    tools: bool,
    /// Print the results as a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(solution: &Solution, args: &Args) -> Result<ExitCode> {
    let questions_file = args.questions.clone().unwrap_or_else(|| embedded("eval/questions.jsonl"));
    let stories_file = args.stories.clone().unwrap_or_else(|| embedded("eval/stories.jsonl"));
    let limit = args.limit.unwrap_or(usize::MAX);
    let questions = read_questions(&questions_file, limit)?;
    if args.tools {
        return tool_calls(solution, args, &questions);
    }
    let stories = perplexity::stories(&stories_file, limit)?;
    let levels = levels(&questions_file.with_file_name("scores.json"))?;

    let mut session = Session::open(solution, &args.model)?;
    let mut marks: BTreeMap<&str, Marks> = BTreeMap::new();
    for (i, question) in questions.iter().enumerate() {
        let Some(answer) = answer(&mut session, &question.prompt, None, None)? else {
            return Ok(interrupt::exit_code(true));
        };
        let of_kind = marks.entry(&question.kind).or_default();
        of_kind.asked += 1;
        of_kind.right += usize::from(answer == question.answer);
        if (i + 1) % 100 == 0 {
            note(&format!("{} of {} questions", i + 1, questions.len()));
        }
    }
    let likelihood = Likelihood::of_stories(&mut session, &stories)?;
    let all = Marks { asked: questions.len(), right: marks.values().map(|m| m.right).sum() };
    let kinds: Vec<_> = marks.into_iter().chain([("all", all)]).collect();
    let report = if args.json {
        as_json(&kinds, &likelihood)
    } else {
        as_table(&kinds, &levels, &likelihood)
    };
    Output::new().print(&report)?;
    Ok(ExitCode::SUCCESS)
}

struct Question {
    kind: String,
    prompt: String,
    answer: String,
}

#[derive(Clone, Copy, Default)]
struct Marks {
    asked: usize,
    right: usize,
}

impl Marks {
    fn share(self) -> f64 {
        self.right as f64 / self.asked as f64
    }
}

/// Returns the first line of the model's answer to `prompt`, or `None` if Ctrl-C ended the answer.
/// With a seed, the answer is sampled. Without a seed, it is greedy.
fn answer(
    session: &mut Session,
    prompt: &str,
    form: Option<Form>,
    seed: Option<u64>,
) -> Result<Option<String>> {
    let prompt = session.tokenizer.encode_prompt(prompt)?;
    let mut request = Request::greedy(prompt, MAX_ANSWER);
    request.stop_tokens = session.stop_tokens();
    if let Some(seed) = seed {
        (request.sampling, request.seed) = (SamplerOptions::default(), seed);
    }
    let until_line_end = |piece: &str| {
        if piece.contains('\n') { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (model, mut answer) = session.answer(&request.prompt)?;
    let finish = model
        .generate(&request, form.as_ref(), &mut |token| answer.token(token, until_line_end))?;
    let generated = answer.end(finish, until_line_end);
    let line = generated.text.split('\n').next().unwrap_or_default().trim().to_owned();
    Ok((!generated.interrupted).then_some(line))
}

/// Generates four answers to each question of the kind `tool_call`: two greedy and two sampled, one
/// of each with a constraint to a tool call and one without. Prints a table of scores.
fn tool_calls(solution: &Solution, args: &Args, questions: &[Question]) -> Result<ExitCode> {
    let mut session = Session::open(solution, &args.model.clone().formed(Some("--tools"))?)?;
    // For each row of the table: how many answers are exact, and how many are valid calls.
    let (mut asked, mut marks) = (0, [[0; 2]; 4]);
    for question in questions.iter().filter(|question| question.kind == "tool_call") {
        let tools = listed(&question.prompt);
        let shape = Shape::of_calls(&tools, Style::PLAIN, false)
            .map_err(|refused| anyhow!("{:?}: {refused}", question.prompt))?;
        let shape = Arc::new(shape);
        asked += 1;
        for (i, marks) in marks.iter_mut().enumerate() {
            let form = (i % 2 == 1).then(|| Form::Shape(Arc::clone(&shape)));
            let form = if asked == 1 && i == 1 { session.prepare(form) } else { form };
            let seed = (i >= 2).then_some(asked);
            let Some(answer) = answer(&mut session, &question.prompt, form, seed)? else {
                return Ok(interrupt::exit_code(true));
            };
            marks[0] += usize::from(answer == question.answer);
            marks[1] += usize::from(shape.accepts(answer.as_bytes()));
        }
    }
    let mut table = format!("{:<34}{:>8}{:>8}", "tool calls", "exact", "fit");
    let names = [
        "the likeliest token",
        "the same, with a schema",
        "drawn at temperature 1",
        "the same, with a schema",
    ];
    for (name, marks) in names.iter().zip(marks) {
        let [exact, fit] = marks.map(|right| format!("{right}/{asked}"));
        let _ = write!(table, "\n{name:<34}{exact:>8}{fit:>8}");
    }
    Output::new().print(&table)?;
    Ok(ExitCode::SUCCESS)
}

/// Parses the tools that a prompt lists, one per line: `{"name": …, "parameters": ["city"]}`. The
/// prompt names no types, so each parameter may be a string or a whole number.
fn listed(prompt: &str) -> Vec<Tool> {
    let lines = prompt.lines().map(|line| line.trim_end_matches("<|im_end|>"));
    let tools = lines.filter(|line| line.starts_with("{\"name\""));
    let tool = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let names: Vec<&str> =
            value["parameters"].as_array()?.iter().filter_map(Value::as_str).collect();
        let each = |name: &&str| format!("{name:?}: {{\"type\": [\"string\", \"integer\"]}}");
        let schema = format!(
            "{{\"type\": \"object\", \"properties\": {{{}}}, \"required\": {}, \
             \"additionalProperties\": false}}",
            names.iter().map(each).collect::<Vec<_>>().join(", "),
            json!(names)
        );
        let parameters = Some(Json::parse(schema.as_bytes()).ok()?);
        Some(Tool { name: value["name"].as_str()?.to_owned(), description: None, parameters })
    };
    tools.filter_map(tool).collect()
}

fn read_questions(path: &Path, limit: usize) -> Result<Vec<Question>> {
    let all = read_lines(path, |line| {
        Ok(Question {
            kind: line.text("kind")?,
            prompt: line.text("prompt")?,
            answer: line.text("answer")?,
        })
    })?;
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let within = |question: &Question| {
        let n = taken.entry(question.kind.clone()).or_default();
        *n += 1;
        *n <= limit
    };
    Ok(all.into_iter().filter(within).collect())
}

/// The scores that guessing would reach, by kind of question. They are read from a file, and are
/// null if there is no file.
struct Levels {
    /// Score of guessing a word that is in the right word list and in the story.
    guess: Value,
    /// Score of guessing from the word lists, without reading the story.
    chance: Value,
}

fn levels(path: &Path) -> Result<Levels> {
    let name = path.display();
    let scores: Value = match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|e| anyhow!("{name}: not JSON: {e}"))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Value::Null,
        Err(error) => return Err(anyhow!("{name}: cannot be read: {error}")),
    };
    Ok(Levels { guess: scores["guess_in_story"].clone(), chance: scores["chance"].clone() })
}

fn as_table(kinds: &[(&str, Marks)], levels: &Levels, likelihood: &Likelihood) -> String {
    let level = |levels: &Value, kind: &str| {
        levels[kind].as_f64().map_or(String::new(), |share| format!("{:.1} %", 100.0 * share))
    };
    let mut table = format!(
        "{:<12}{:>10}{:>10}{:>18}{:>10}\n",
        "kind", "right", "exact", "guess in story", "chance"
    );
    for (kind, marks) in kinds {
        let right = format!("{}/{}", marks.right, marks.asked);
        let exact = format!("{:.1} %", 100.0 * marks.share());
        let (guess, chance) = (level(&levels.guess, kind), level(&levels.chance, kind));
        let line = format!("{kind:<12}{right:>10}{exact:>10}{guess:>18}{chance:>10}");
        let _ = writeln!(table, "{}", line.trim_end());
    }
    let stories = likelihood.of_texts.len();
    let unit = if stories == 1 { "story" } else { "stories" };
    table + &format!("perplexity {:.4} over {stories} {unit}", likelihood.perplexity())
}

fn as_json(kinds: &[(&str, Marks)], likelihood: &Likelihood) -> String {
    let exact: BTreeMap<_, _> = kinds.iter().map(|(kind, marks)| (kind, marks.share())).collect();
    let asked: BTreeMap<_, _> = kinds.iter().map(|(kind, marks)| (kind, marks.asked)).collect();
    // Models are compared story by story, because stories differ more than models do.
    json!({
        "exact": exact,
        "asked": asked,
        "perplexity": likelihood.perplexity(),
        "stories": likelihood.of_texts.len(),
        "tokens": likelihood.tokens,
        "negative_log_likelihoods": likelihood.of_texts,
    })
    .to_string()
}
