//! Forked sequences under random schedules.

use super::*;

/// Sequences are forked inside a page, grow separately, are truncated and are dropped. Each one's
/// logits must be those of a dense cache with only this sequence.
#[test]
fn forked_sequences_match_a_dense_cache() {
    [CacheType::F16, CacheType::Q8_0].into_iter().for_each(check_forks);
}

fn check_forks(kind: CacheType) {
    let world = World::new(kind);
    let plan = world.plan(2);
    let vocabulary = world.model.config.vocab_size;
    let alone = |text: &[u32]| -> Vec<f32> {
        let mut cache = InParts::new(DenseCache::new(world.shape(), kind));
        let last = text.len() - 1;
        let row =
            |(position, &token)| Row { token, position, sequence: 0, logits: position == last };
        let rows: Vec<Row> = text.iter().enumerate().map(row).collect();
        let mut work = Workspace::default();
        world.model.forward(&rows, &mut cache, &plan, &mut work).to_vec()
    };
    let (mut forks, mut copied) = (0, 0);
    for seed in 0..3 {
        let mut random = Random(Rng::new(700 + seed));
        let paged = PagedCache::new(world.shape(), TILE, 13, kind);
        let mut cache = InParts::new(paged);
        let mut work = Workspace::default();
        let mut texts: Vec<Vec<u32>> = vec![Vec::new(); SLOTS];
        for step in 0..32 {
            let (a, b) = (random.below(SLOTS), random.below(SLOTS));
            match random.below(4) {
                0 if a != b && !texts[a].is_empty() => {
                    cache.truncate(b, 0);
                    cache.inner_mut().fork(a, b);
                    texts[b] = texts[a].clone();
                    forks += 1;
                }
                1 => {
                    let len = texts[a].len() - random.below(texts[a].len().min(12) + 1);
                    cache.truncate(a, len);
                    texts[a].truncate(len);
                }
                2 if random.below(3) == 0 => {
                    cache.truncate(a, 0);
                    texts[a].clear();
                }
                _ => {
                    let mut rows = Vec::new();
                    let mut ids = Vec::new();
                    for (sequence, text) in texts.iter_mut().enumerate() {
                        let more = random.below(14).min(CONTEXT - text.len());
                        if more == 0 || !cache.reserve(sequence, text.len() + more) {
                            continue;
                        }
                        let start = text.len();
                        text.extend((0..more).map(|_| (random.0.next_u64() % 1500) as u32));
                        let last = text.len() - 1;
                        let row = |(position, &token)| Row {
                            token,
                            position,
                            sequence,
                            logits: position == last,
                        };
                        rows.extend(text.iter().enumerate().skip(start).map(row));
                        ids.push(sequence);
                    }
                    if rows.is_empty() {
                        continue;
                    }
                    let logits = world.model.forward(&rows, &mut cache, &plan, &mut work);
                    // Checks one sequence, because computing its text alone takes a whole prefill.
                    let all = ids.iter().zip(logits.chunks_exact(vocabulary));
                    for (&sequence, logits) in all.skip(random.below(ids.len())).take(1) {
                        let expected = alone(&texts[sequence]);
                        let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits();
                        assert!(
                            logits.iter().zip(&expected).all(same),
                            "seed {seed}, step {step}: sequence {sequence} of {} tokens",
                            texts[sequence].len()
                        );
                    }
                }
            }
        }
        copied += cache.inner().copied();
        (0..SLOTS).for_each(|sequence| cache.truncate(sequence, 0));
        assert_eq!(
            cache.inner().pool().num_free(),
            13,
            "seed {seed}: number of free pages at the end"
        );
    }
    assert!(forks > 8 && copied > 4, "{forks} forks, {copied} pages copied");
}
