//! Caches of type q8_0. Checks that attention gives the same bits as over an f32 cache of the
//! rounded numbers, wherever the rows are stored.

use tiny_llm_harness::fixtures::random;
use tiny_llm_reference::{
    week2::{
        attention::attend,
        cache::{CacheShape, CacheType, DenseCache, KvCache},
        kernels::Rung,
        parallel::Team,
        plan::{AttentionKind, Plan},
        q8_attention::{quantized, widen_rows},
        rows::{Queries, Row},
    },
    week3::{
        from_words::FromWords,
        in_parts::InParts,
        paged::PagedCache,
        prompt_file::{self, PromptKey, decode, encode},
        room::EngineCache,
    },
};

const POSITIONS: usize = 77;
const HEADS: usize = 2;
const GROUP: usize = 3;

fn shape(head_dim: usize) -> CacheShape {
    CacheShape { layers: 2, sequences: 2, kv_heads: HEADS, capacity: 96, head_dim }
}

fn plan(attention: AttentionKind) -> Plan {
    Plan { kernels: Rung::Fused.into(), attention, team: Team::new(2) }
}

/// Returns keys and values of a position, which differ between layers.
fn cells(position: usize, layer: usize, head_dim: usize) -> [Vec<f32>; 2] {
    [0, 1].map(|i| {
        let seed = ((position * 2 + layer) * 2 + i) as u64;
        random(seed, &[HEADS * head_dim]).iter().copied().collect()
    })
}

/// Writes the positions from `from` up to `POSITIONS` of a sequence.
fn fill(cache: &mut impl KvCache, sequence: usize, from: usize) {
    let head_dim = cache.shape().head_dim;
    for position in from..POSITIONS {
        for layer in 0..2 {
            let [keys, values] = cells(position, layer, head_dim);
            cache.write(layer, sequence, position, &keys, &values);
        }
        cache.advance(sequence, position);
    }
}

/// Returns the output of attention in layer 1 for the last `n` rows of a sequence.
fn attention(cache: &impl KvCache, kind: AttentionKind, sequence: usize, n: usize) -> Vec<f32> {
    let head_dim = cache.shape().head_dim;
    let width = HEADS * GROUP * head_dim;
    let all: Vec<f32> = random(5, &[POSITIONS * width]).iter().copied().collect();
    let positions = POSITIONS - n..POSITIONS;
    let q = &all[positions.start * width..];
    let row = |position| Row { token: 0, position, sequence, logits: false };
    let rows: Vec<Row> = positions.map(row).collect();
    let mut out = vec![f32::NAN; q.len()];
    let queries = Queries { rows: &rows, q, group: GROUP, head_dim };
    attend(&plan(kind), cache, 1, queries, &mut out);
    out
}

/// Returns an f32 cache with the same numbers that a q8_0 cache holds for `sequence`.
fn widened(cache: &DenseCache, sequence: usize) -> DenseCache {
    let CacheShape { head_dim, .. } = cache.shape();
    let mut plain = DenseCache::new(cache.shape(), CacheType::F32);
    for position in 0..cache.len(sequence) {
        for layer in 0..2 {
            let mut numbers = [vec![0.0; HEADS * head_dim], vec![0.0; HEADS * head_dim]];
            for head in 0..HEADS {
                let run = cache.run(layer, sequence, head, position..position + 1);
                for (numbers, cells) in numbers.iter_mut().zip([run.keys, run.values]) {
                    widen_rows(cells, 0, 1, head_dim, &mut numbers[head * head_dim..]);
                }
            }
            plain.write(layer, sequence, position, &numbers[0], &numbers[1]);
        }
        plain.advance(sequence, position);
    }
    plain
}

#[test]
fn attention_matches_an_f32_cache_of_rounded_numbers() {
    for head_dim in [16, 32, 40, 64, 80, 96, 128, 256] {
        let mut cache = DenseCache::new(shape(head_dim), CacheType::Q8_0);
        fill(&mut cache, 0, 0);
        let plain = widened(&cache, 0);
        for kind in [AttentionKind::Streaming, AttentionKind::TwoPass] {
            // A row alone, a few, and blocks of a prompt.
            for n in [1, 3, 20, POSITIONS] {
                let (found, expected) =
                    (attention(&cache, kind, 0, n), attention(&plain, kind, 0, n));
                assert!(found == expected, "{kind}, heads of {head_dim}, {n} rows");
            }
        }
        let (found, expected) = (InParts::new(cache), InParts::new(plain));
        for n in [1, 40] {
            let kind = AttentionKind::Streaming;
            let (found, expected) =
                (attention(&found, kind, 0, n), attention(&expected, kind, 0, n));
            assert!(found == expected, "in parts, heads of {head_dim}, {n} rows");
        }
    }
}

/// Rounding changes a number by at most 1/254 of the largest in its block. All numbers are from −1
/// to 1, so a score changes by at most `E = √D / 254`. A weight then changes by a factor of at most
/// `e^2E`, and an output by at most `e^2E − 1 + 1/254`.
#[test]
fn rounding_error_of_attention_is_bounded() {
    for head_dim in [32, 64, 128] {
        let [mut rounded, mut exact] =
            [CacheType::Q8_0, CacheType::F32].map(|kind| DenseCache::new(shape(head_dim), kind));
        fill(&mut rounded, 0, 0);
        fill(&mut exact, 0, 0);
        let bound = (2.0 * (head_dim as f32).sqrt() / 254.0).exp() - 1.0 + 1.0 / 254.0;
        let kind = AttentionKind::Streaming;
        let (found, expected) =
            (attention(&rounded, kind, 0, POSITIONS), attention(&exact, kind, 0, POSITIONS));
        let worst = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        assert!(worst < bound, "heads of {head_dim}: {worst}, bound {bound}");
        assert!(worst > 1e-5, "heads of {head_dim}: {worst}, so nothing was rounded");
    }
}

#[test]
fn paged_cache_matches_the_dense_cache() {
    for head_dim in [40, 64] {
        let mut dense = DenseCache::new(shape(head_dim), CacheType::Q8_0);
        fill(&mut dense, 0, 0);
        let kind = AttentionKind::Streaming;
        let expected = attention(&dense, kind, 0, 1);
        let mut paged = PagedCache::new(shape(head_dim), 32, 6, CacheType::Q8_0);
        let bytes = CacheType::Q8_0.row_bytes(head_dim);
        assert_eq!(paged.page_bytes(), 2 * 2 * HEADS * 32 * bytes);
        fill(&mut paged, 0, 0);
        assert!(attention(&paged, kind, 0, 1) == expected);
        // A fork shares its pages until a write, which copies the page.
        paged.fork(0, 1);
        assert!(attention(&paged, kind, 1, 1) == expected);
        paged.truncate(1, 70);
        assert!(paged.reserve(1, POSITIONS));
        fill(&mut paged, 1, 70);
        assert_eq!(paged.copied(), 1);
        for sequence in [0, 1] {
            assert!(attention(&paged, kind, sequence, 1) == expected, "sequence {sequence}");
        }
        // Freed pages are allocated again in another order.
        paged.truncate(1, 0);
        paged.truncate(0, 33);
        fill(&mut paged, 0, 33);
        assert!(attention(&paged, kind, 0, 1) == expected);
    }
}

#[test]
fn not_finite_keys_stay_not_finite() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 9e6] {
        let mut cache = DenseCache::new(shape(64), CacheType::Q8_0);
        let [mut keys, values] = cells(0, 1, 64);
        keys[70] = bad;
        cache.write(1, 0, 0, &keys, &values);
        let mut numbers = [0f32; 64];
        for (head, expected) in [(0, 64), (1, 32)] {
            let run = cache.run(1, 0, head, 0..1);
            widen_rows(run.keys, 0, 1, 64, &mut numbers);
            // The other block of the row and the other head stay finite.
            let finite = numbers.iter().filter(|x| x.is_finite()).count();
            assert_eq!(finite, expected, "{bad}, head {head}");
        }
    }
}

#[test]
fn prompt_file_restores_the_rows() {
    for head_dim in [40, 64] {
        let mut dense = DenseCache::new(shape(head_dim), CacheType::Q8_0);
        fill(&mut dense, 0, 0);
        let tokens: Vec<u32> = (0..POSITIONS as u32).collect();
        let key = |kind| PromptKey::new(7, kind, shape(head_dim));
        let file = encode(&dense, 0, &tokens, key(CacheType::Q8_0));
        let rows = POSITIONS * 2 * HEADS * 2;
        let bytes = CacheType::Q8_0.row_bytes(head_dim);
        assert_eq!(file.len(), prompt_file::HEADER + 4 * POSITIONS + rows * bytes + 8);
        let prompt = decode(&file, key(CacheType::Q8_0)).unwrap();
        let mut paged = PagedCache::new(shape(head_dim), 32, 6, CacheType::Q8_0);
        prompt.restore(&mut FromWords(&mut paged), 0, POSITIONS);
        for (layer, head) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut at = 0;
            for run in paged.runs(layer, 0, head, 0..POSITIONS) {
                let all = dense.run(layer, 0, head, at..at + run.len);
                for (found, expected) in [(run.keys, all.keys), (run.values, all.values)] {
                    let words = |cells| quantized(cells, head_dim).words;
                    assert!(words(found) == words(expected), "layer {layer}, head {head}, {at}");
                }
                at += run.len;
            }
        }
    }
}

#[test]
fn open_rejects_a_prompt_file_of_another_type() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = [CacheType::F32, CacheType::F16, CacheType::Q8_0];
    let key = |kind| PromptKey::new(7, kind, shape(64));
    for stored in kinds {
        let mut cache = DenseCache::new(shape(64), stored);
        fill(&mut cache, 0, 0);
        let path = folder.path().join(stored.to_string());
        prompt_file::save(&path, &encode(&cache, 0, &[1, 2, 3], key(stored))).unwrap();
        for wanted in kinds {
            let opened = prompt_file::open(&path, key(wanted), |prompt| prompt.tokens.clone());
            if stored == wanted {
                assert_eq!(opened.unwrap(), Some(vec![1, 2, 3]));
                continue;
            }
            let message = format!("{:#}", opened.unwrap_err());
            let expected = format!("{stored} cache, expected {wanted}");
            assert!(message.ends_with(&expected), "{message}, expected {expected}");
        }
        // A file of another model is rejected, even with the same type.
        let other = PromptKey::new(8, stored, shape(64));
        let refused = prompt_file::open(&path, other, |_| ()).unwrap_err();
        assert!(format!("{refused:#}").contains("fingerprint"), "{refused:#}");
    }
}
