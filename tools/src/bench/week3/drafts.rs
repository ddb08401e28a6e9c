//! Measures drafts with one request at a time: continued stories, and repetitive texts.

use std::path::Path;

use anyhow::Result;

use super::{
    super::week2::{engine::Engine, median},
    load,
    served::{Served, serve},
    shapes::Figure,
};

/// Measures tokens per second with drafts by a model and by lookup, alternating with runs without
/// drafts.
pub(super) fn measure(
    engine: &Engine,
    root: &Path,
    folder: &Path,
    (threads, pairs): (Option<u16>, usize),
) -> Result<Vec<Figure>> {
    let models = root.join("models");
    let draft = models.join("tiny-story-draft").to_string_lossy().into_owned();
    let file = folder.join("week3-drafts.jsonl");
    type Write = fn(&Path, &Path) -> Result<()>;
    let loads: [(&str, Write); 2] = [("stories", load::told), ("repeated texts", load::repeated)];
    let mut figures = Vec::new();
    for (what, write) in loads {
        write(root, &file)?;
        let run = |proposer: Option<&str>| -> Result<Served> {
            let trace = file.to_string_lossy();
            let always = ["--max-batch", "1", "--budget", "0", "--pages", "0", "--trace", &trace];
            let mut words: Vec<String> = always.iter().map(|&word| word.to_owned()).collect();
            words.extend(["-c".to_owned(), load::CONTEXT.to_string()]);
            words.extend(threads.map(|n| format!("-j{n}")));
            words.extend(
                proposer.iter().flat_map(|name| ["--draft".to_owned(), (*name).to_owned()]),
            );
            serve(engine, &models.join("tiny-story"), &words)
        };
        for (who, proposer) in [("a model", draft.as_str()), ("lookup", "lookup")] {
            let runs = (0..pairs)
                .map(|_| Ok((run(Some(proposer))?, run(None)?)))
                .collect::<Result<Vec<_>>>()?;
            let rate = |served: &Served| served.tokens_per_second;
            let ratio = median(runs.iter().map(|(with, without)| rate(with) / rate(without)));
            let (drafts, accepted) = runs.iter().fold((0, 0), |(drafts, accepted), (with, _)| {
                (drafts + with.drafts.unwrap_or(0), accepted + with.drafts_accepted.unwrap_or(0))
            });
            let share = accepted as f64 / drafts.max(1) as f64;
            let ours = median(runs.iter().map(|(with, _)| rate(with)));
            figures.push(Figure::ours(
                format!("{what}, drafts by {who}, tokens/s"),
                ours,
                format!("{ratio:.2} × without drafts; {:.0} % of {drafts} accepted", 100.0 * share),
            ));
        }
    }
    Ok(figures)
}
