//! Week 4: `layout`, `graph` and `--engine graph`.

use std::fs;

use crate::{
    folder::Folder,
    process::{Run, run},
};

#[test]
fn layout_shows_that_transpose_moves_no_bytes() {
    let said = run(&["layout", "4,2", "transpose", "contiguous"]).succeeds("layout");
    let expected = "\
F32, PyTorch's shape [4, 2]
  ne [2, 4, 1, 1]  nb [4, 8, 32, 32]  contiguous
       0     4
       8    12
      16    20
      24    28
transpose
  ne [4, 2, 1, 1]  nb [8, 4, 32, 32]  not contiguous
       0     8    16    24
       4    12    20    28
contiguous
  ne [4, 2, 1, 1]  nb [4, 16, 32, 32]  contiguous
       0     4     8    12
      16    20    24    28
";
    assert_eq!(said.stdout, expected);
}

#[test]
fn layout_rejects_steps_that_do_not_fit() {
    for (args, code, words) in [
        (&["layout", "4,64", "transpose", "--type", "q4_0"][..], 1, &["Q4_0", "[64, 4, 1, 1]"][..]),
        (&["layout", "4,48", "--type", "q4_0"], 1, &["48", "32"]),
        (&["layout", "4,2", "view:2,5,1,1"], 1, &["[2, 5, 1, 1]", "32 bytes"]),
        (&["layout", "4,2", "transpose", "reshape:8"], 1, &["contiguous"]),
        (&["layout", "4,2", "--type", "q9"], 2, &["--type", "q9"]),
        (&["layout", "4,2", "turn"], 2, &["turn"]),
        (&["layout", "4,x"], 2, &["4,x"]),
        (&["generate", "--engine", "other", "-p", "a", "--week", "2"], 2, &["--engine", "other"]),
        (&["generate", "--engine", "graph", "-p", "a", "--draft", "lookup"], 2, &["--draft"]),
        (&["generate", "--engine", "graph", "-p", "a", "--no-cache"], 2, &["--no-cache"]),
        (&["generate", "--engine", "graph", "-p", "a", "--repack"], 2, &["--repack"]),
        (&["generate", "--engine", "graph", "-p", "a", "--week", "1"], 2, &["--engine"]),
        (&["generate", "-p", "a", "--repack", "--week", "1"], 2, &["--week 1", "--repack"]),
        (&["graph", "--week", "1"], 2, &["--week 1"]),
    ] {
        run(args).fails_in_one_line(&args.join(" "), code, words);
    }
}

/// Generates with the embedded model and the options `more`.
fn story(more: &[&str]) -> Run {
    let prompt = "Once upon a time there was a girl named Lily.";
    let mut args = vec!["generate", "-p", prompt, "-n", "30", "--week", "2"];
    args.extend(more);
    run(&args).succeeds(&format!("generate {more:?}"))
}

#[test]
fn a_graph_writes_the_same_text() {
    for more in [&["-j", "1"][..], &["-j", "2", "--temperature", "0.8", "--seed", "5"]] {
        for engine in ["graph", "arena"] {
            let with = [more, &["--engine", engine]].concat();
            assert_eq!(story(&with).stdout, story(more).stdout, "{engine} {more:?}");
        }
    }
}

#[test]
fn a_graph_gives_the_same_logits() {
    let folder = Folder::empty();
    let [ours, theirs] = [&["--engine", "graph"][..], &[]].map(|more| {
        let out = folder.file(if more.is_empty() { "direct" } else { "graph" });
        let args = ["logits", "--tokens", "5,9,200,7,7,31", "--week", "2", "--out", &out];
        run(&[&args[..], more].concat()).succeeds("logits");
        fs::read(out).expect("a file")
    });
    assert!(ours == theirs, "the logits differ");
}

#[test]
fn graph_draws_every_edge() {
    let folder = Folder::empty();
    let svg = folder.file("graph.svg");
    let said = run(&["graph", "--rows", "3", "--dot", "-", "--svg", &svg]).succeeds("graph");
    let picture = fs::read_to_string(svg).expect("a file");
    let arrows = said.stdout.matches(" -> ").count();
    assert!(said.stdout.starts_with("digraph") && arrows > 100, "{arrows} arrows");
    assert_eq!(picture.matches("<path ").count(), arrows);
    assert!(said.stderr.contains(" mul_mat"), "{}", said.stderr);
}

/// The output has the sum of all nodes, the lower bound, and plans without and with nodes in place.
#[test]
fn plans_are_at_most_a_quarter_of_the_sum() {
    for rows in ["1", "40"] {
        let said = run(&["graph", "--memory", "--rows", rows]).succeeds("graph --memory");
        let bytes: Vec<usize> = said
            .stdout
            .lines()
            .map(|line| line.split_whitespace().next().and_then(|n| n.parse().ok()).expect("bytes"))
            .collect();
        let [sum, bound, apart, ahead, least, over, both] = bytes[..] else {
            panic!("{}", said.stdout)
        };
        let apart = [bound, ahead, apart, sum / 4];
        let in_place = [least, both, over, bound];
        assert!(apart.is_sorted() && in_place.is_sorted(), "{}", said.stdout);
    }
}

#[test]
fn backends_write_the_same_text() {
    let expected = story(&[]).stdout;
    for backend in ["cpu", "twin", "twin:embed,attend", "twin:silu_gate,mul_mat"] {
        let found = story(&["--engine", "graph", "--backend", backend]).stdout;
        assert_eq!(found, expected, "--backend {backend}");
    }
}

#[test]
fn splits_are_shown() {
    for (backend, words) in [
        (
            "cpu",
            &[
                "1 split; 0 copies, 0 bytes per pass\n",
                "cpu: 8650752 bytes of weights in place, 0 ",
            ][..],
        ),
        (
            "twin:silu_gate",
            &["twin  ", "  cpu\n", " silu_gate\n", " copies, ", "twin: 0 bytes of weights"],
        ),
    ] {
        let said = run(&["graph", "--splits", "--backend", backend]).succeeds("graph --splits");
        for word in words {
            assert!(said.stdout.contains(word), "{backend}: no {word:?} in\n{}", said.stdout);
        }
    }
}

#[test]
fn invalid_backends_are_rejected() {
    for (args, code, words) in [
        (
            &["generate", "-p", "a", "--week", "2", "--backend", "cpu"][..],
            2,
            &["--engine graph"][..],
        ),
        (
            &["generate", "-p", "a", "--week", "2", "--engine", "arena", "--backend", "cpu"],
            2,
            &["--engine arena"],
        ),
        (&["graph", "--splits", "--backend", "abacus"], 2, &["abacus", "twin"]),
        (&["graph", "--splits", "--backend", "twin:add,divide"], 2, &["divide", "mul_mat"]),
        (&["graph", "--splits", "--week", "1"], 2, &["--week 1"]),
    ] {
        run(args).fails_in_one_line(&args.join(" "), code, words);
    }
}
