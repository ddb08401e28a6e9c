use tiny_llm_reference::{week1, week2::{load, generate::Session, model::Plan, parallel::Team, kernels::Rung, cache::CacheType}};
use std::path::Path;
fn main() {
    let f = Path::new("models/tiny-story");
    let m1 = week1::weights::load_model(f).unwrap();
    let m2 = load::load_folder(f).unwrap();
    let toks: Vec<u32> = (0..40).map(|i| (i * 7919 % 1536) as u32).collect();
    let l1 = week1::generate::next_token_logits(&m1, &toks);
    for threads in [1, 2, 3] { for chunk in [1, 7, 64] {
        let plan = Plan { rung: Rung::best(), team: Team::new(threads) };
        let mut s = Session::new(&m2, &plan, 64, CacheType::F32);
        let t = std::time::Instant::now();
        let l2 = s.feed(&toks, chunk).unwrap();
        let e = l1.iter().zip(l2).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        println!("{threads} {chunk} max diff {e} {:?}", t.elapsed());
    }}
}
