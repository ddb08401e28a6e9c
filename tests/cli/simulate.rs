//! `simulate`: the real scheduler under made-up loads.

use tiny_llm_harness::fixtures::Json;

use crate::process::run;

/// Returns the rows of a simulation as JSON.
#[track_caller]
fn simulated(options: &[&str]) -> Vec<Json> {
    let always = ["simulate", "--json", "--cost", "5,1000,20"];
    let said = run(&[&always[..], options].concat()).succeeds("simulate");
    said.stdout.lines().map(|line| line.parse().expect("a JSON object")).collect()
}

fn number(row: &Json, name: &str) -> f64 {
    let value = &row[name];
    value.as_f64().unwrap_or_else(|| panic!("{name}: {value} of {row}"))
}

#[test]
fn a_request_alone_costs_its_rows_and_positions() {
    // Arrivals are so rare that no two requests overlap.
    let [row] = &simulated(&["--requests", "50", "--rate", "0.001", "--spread", "0"])[..] else {
        panic!("one row")
    };
    assert_eq!(number(row, "new_tokens"), 50.0 * 64.0);
    assert_eq!(number(row, "steps"), 50.0 * 64.0);
    // 128 rows that read 1 to 128 positions: 5 ms + 128 ms + 8,256 × 20 ns.
    let first = number(&row["first_token_s"], "median");
    assert!((first / 0.133_165 - 1.0).abs() < 0.006, "{first}");
    // Then one row that reads about 160 positions: 5 ms + 1 ms + 160 × 20 ns.
    let gap = number(&row["gap_s"], "p99");
    assert!((gap / 0.006_003 - 1.0).abs() < 0.006, "{gap}");
}

#[test]
fn more_slots_give_more_tokens_per_second() {
    let rows = simulated(&["--requests", "300", "--rate", "50", "--max-batch", "1,4,16"]);
    let speeds: Vec<f64> = rows.iter().map(|row| number(row, "tokens_per_second")).collect();
    assert!(speeds.is_sorted(), "{speeds:?}");
    assert!(speeds[2] > 2.0 * speeds[0], "{speeds:?}");
}

#[test]
fn a_budget_shortens_the_longest_gap() {
    let common = ["--requests", "400", "--rate", "0.5", "--prompt-tokens", "600"];
    let rows = simulated(&[&common[..], &["--budget", "0,64"]].concat());
    let [whole, pieces] = [0, 1].map(|i| number(&rows[i]["longest_gap_s"], "p99"));
    assert!(pieces < whole / 3.0, "{whole} s, with a budget {pieces} s");
}

#[test]
fn few_pages_preempt_requests_and_lose_none() {
    let common = ["--requests", "200", "--rate", "20", "--max-batch", "8"];
    let rows = simulated(&[&common[..], &["--pages", "24,1024", "-c", "512"]].concat());
    assert!(number(&rows[0], "preempted") > 0.0, "{}", rows[0]);
    assert!(number(&rows[0], "most_pages") <= 24.0, "{}", rows[0]);
    assert_eq!(number(&rows[1], "preempted"), 0.0);
    assert_eq!(rows[0]["new_tokens"], rows[1]["new_tokens"]);
}

#[test]
fn a_seed_gives_the_same_table() {
    let options =
        ["--requests", "100", "--burst", "4", "--replicas", "3", "--routing", "least-loaded"];
    let with = |seed| simulated(&[&options[..], &["--seed", seed]].concat());
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
}

/// All requests of the trace arrive at once. The real engine and the simulation must count the same
/// tokens, steps, rows and pages.
#[test]
fn the_real_engine_matches_the_simulation() {
    if cfg!(not(feature = "reference")) {
        return;
    }
    let trace = std::env::temp_dir().join(format!("tiny-llm-trace-{}.jsonl", std::process::id()));
    let line = r#"{"prompt_tokens": 40, "max_tokens": 5}"#;
    let story = r#"{"time": 0.0, "prompt": "Once upon a time", "max_tokens": 9}"#;
    std::fs::write(&trace, format!("{line}\n\n{line}\n{story}\n")).expect("a file");
    let file = trace.to_str().expect("a path");
    let rows = simulated(&["--real", "--trace", file, "--max-batch", "2", "--budget", "16"]);
    let [real, simulated_one] = &rows[..] else { panic!("two rows: {rows:?}") };
    assert_eq!(
        (real["engine"].as_str(), simulated_one["engine"].as_str()),
        (Some("real"), Some("simulated"))
    );
    for field in ["new_tokens", "prompt_tokens", "steps", "rows_a_step", "most_pages"] {
        assert_eq!(real[field], simulated_one[field], "{field}");
    }
    assert_eq!(number(real, "new_tokens"), 19.0);
    // Less than one page for each: 32 positions, five layers, two heads of 64, f16, K and V.
    let page = 32.0 * 5.0 * 2.0 * 64.0 * 2.0 * 2.0;
    assert!(number(real, "cache_bytes_beyond_for_each") < page, "{real}");
    let alone = ["simulate", "--real-only", "--json", "--trace", file, "--draft", "lookup"];
    let dense = ["--pages", "0", "--static-batches", "--max-batch", "2"];
    let said = run(&[&alone[..], &dense[..]].concat()).succeeds("real alone");
    let row: Json = said.stdout.trim().parse().expect("one JSON object");
    assert_eq!(number(&row, "new_tokens"), 19.0);
    assert!(row["drafts"].as_u64().is_some(), "{row}");
    std::fs::write(&trace, "{\"max_tokens\": 3}").expect("a file");
    let said = run(&alone);
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(said.stderr.contains(":1: \"prompt_tokens\""), "{}", said.stderr);
    let _ = std::fs::remove_file(&trace);
}

#[test]
fn wrong_options_are_named() {
    for (options, words) in [
        (["--cost", "1,2"], "three numbers"),
        (["--rate", "0"], "above 0"),
        (["--rate", "nan"], "above 0"),
        (["--burst", "0.5"], "at least 1"),
        (["--routing", "random"], "round-robin"),
        (["--pages", "0"], "from 1 to"),
        (["--replicas", "1,0"], "from 1 to"),
        (["--max-batch", "1000000000"], "4096"),
        (["--shared-tokens", "0"], "from 1 to"),
    ] {
        let said = run(&[&["simulate"], &options[..]].concat());
        assert_eq!(said.code, 2, "{options:?}: {}", said.stderr);
        assert!(said.stderr.contains(words), "{options:?}: {}", said.stderr);
    }
    let options = ["simulate", "--cost", "1,1,1", "--pages", "2", "--shared-prompts", "1"];
    run(&options).fails_in_one_line("no room", 1, &["--shared-tokens: found 500", "context of 64"]);
    let drawn = ["simulate", "--cost", "1,1,1", "--requests", "9", "--svg", "/no/such/folder/x"];
    run(&drawn).fails_in_one_line("nowhere", 1, &["/no/such/folder/x"]);
}

#[test]
fn shared_prefixes_are_computed_once_per_replica() {
    let common = ["--requests", "400", "--rate", "0.5", "--shared-prompts", "8", "--replicas", "4"];
    let load = [&common[..], &["--shared-tokens", "512", "--share-prefixes"]].concat();
    let rows = simulated(&[&load[..], &["--routing", "round-robin,prefix"]].concat());
    let [anywhere, home] = [0, 1].map(|i| number(&rows[i], "attached"));
    // Each prefix is computed once per replica (8 · 4), or once if its requests share a replica
    // (8).
    assert!(anywhere / 512.0 <= 400.0 - 32.0 && anywhere / 512.0 > 340.0, "{anywhere}");
    assert!(home / 512.0 <= 400.0 - 8.0 && home > anywhere, "{home}, anywhere {anywhere}");
    let forgetful = simulated(&[&common[..], &["--shared-tokens", "512"]].concat());
    assert_eq!(number(&forgetful[0], "attached"), 0.0);
}
