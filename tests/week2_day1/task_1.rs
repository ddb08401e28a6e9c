//! Week 2, day 1, task 1: the cache.

use ndarray::Axis;
use tiny_llm::week2::cache::{CacheShape, CacheType, Cells, DenseCache, KvCache};
use tiny_llm_formats::{Tensor, tensor::tensor};
use tiny_llm_harness::check;

use super::{SHAPE, check_every_place, filled, fixtures, numbers, read};

#[test]
fn task_1_f32_writes_are_read_back() {
    check_every_place(CacheType::F32, "f32");
}

#[test]
fn task_1_f16_writes_are_read_back() {
    check_every_place(CacheType::F16, "f16");
}

#[test]
fn task_1_f16_rounds_to_nearest() {
    check_f16("f16");
}

#[test]
fn task_1_f16_large_and_infinite_values() {
    check_f16("f16_large");
}

#[test]
fn task_1_f16_tiny_values() {
    check_f16("f16_tiny");
}

fn check_f16(name: &str) {
    let case = fixtures().case(&format!("task_1_cache/{name}"));
    let x = case.tensor("x");
    let row: Vec<f32> = x.iter().copied().collect();
    let shape =
        CacheShape { layers: 1, sequences: 1, kv_heads: 1, capacity: 2, head_dim: row.len() };
    let mut cache = DenseCache::new(shape, CacheType::F16);
    cache.write(0, 0, 0, &row, &row);
    let run = cache.run(0, 0, 0, 0..1);
    assert!(matches!(run.keys, Cells::F16(_)), "a cache of f16 must return runs of f16");
    case.check("rounded", &tensor(x.shape(), numbers(run.keys)));
}

#[test]
fn task_1_run_has_the_requested_positions() {
    let case = fixtures().case("task_1_cache/every_place");
    let cache = filled(&case, CacheType::F32);
    for positions in [0..0, 0..1, 0..3, 0..7, 1..3, 2..5, 4..5, 3..3] {
        let run = cache.run(1, 2, 1, positions.clone());
        let found = (run.start, run.len, numbers(run.keys).len(), numbers(run.values).len());
        let (start, len) = (positions.start, positions.len());
        let expected = (start, len, 4 * len, 4 * len);
        assert_eq!(
            found, expected,
            "run of positions {positions:?} with head size 4: (start, len, number of elements in \
             keys, number of elements in values)"
        );
    }
    // A run that begins later has the same contents as that part of a run from position 0.
    let whole = cache.run(1, 2, 1, 0..5);
    let part = cache.run(1, 2, 1, 2..5);
    for (name, whole, part) in
        [("keys", whole.keys, part.keys), ("values", whole.values, part.values)]
    {
        let expected = numbers(whole)[2 * 4..].to_vec();
        let what = format!(
            "{name} of a run of positions 2 to 4, compared with that part of a run of positions 0 \
             to 4"
        );
        check::assert_close(
            &what,
            &tensor(&[3, 4], numbers(part)),
            &tensor(&[3, 4], expected),
            0.0,
        );
    }
}

#[test]
fn task_1_write_overwrites_only_its_position() {
    let case = fixtures().case("task_1_cache/every_place");
    let mut cache = filled(&case, CacheType::F32);
    let (keys, values) = read(&cache);
    for layer in 0..SHAPE.layers {
        for sequence in 0..SHAPE.sequences {
            cache.write(layer, sequence, 2, &[9.0; 8], &[8.0; 8]);
        }
    }
    let again = |mut x: Tensor, number: f32| {
        x.index_axis_mut(Axis(3), 2).fill(number);
        x
    };
    let (found_keys, found_values) = read(&cache);
    let property = "only position 2 was written again: it must have the new numbers, and all \
                    others must be unchanged";
    check::assert_agrees(
        "keys after position 2 was written again",
        &found_keys,
        &again(keys, 9.0),
        0.0,
        property,
    );
    check::assert_agrees(
        "values after position 2 was written again",
        &found_values,
        &again(values, 8.0),
        0.0,
        property,
    );
}

#[test]
fn task_1_write_overwrites_after_advance() {
    let shape = CacheShape { layers: 1, sequences: 1, kv_heads: 1, capacity: 3, head_dim: 2 };
    let mut cache = DenseCache::new(shape, CacheType::F32);
    for position in 0..2 {
        cache.write(0, 0, position, &[1.0, 2.0], &[3.0, 4.0]);
        cache.advance(0, position);
    }
    cache.write(0, 0, 0, &[5.0, 6.0], &[7.0, 8.0]);
    let run = cache.run(0, 0, 0, 0..1);
    let found = (numbers(run.keys), numbers(run.values));
    assert!(
        found == (vec![5.0, 6.0], vec![7.0, 8.0]),
        "position 0 was written and counted, then written again with keys [5, 6] and values [7, \
         8]: found {found:?}, expected the new keys and values"
    );
}

#[test]
fn task_1_write_and_run_in_a_large_cache() {
    let shape = CacheShape { layers: 3, sequences: 2, kv_heads: 12, capacity: 200, head_dim: 5 };
    let mut cache = DenseCache::new(shape, CacheType::F32);
    let places = || {
        (0..3).flat_map(|layer| {
            (0..2).flat_map(move |sequence| (0..200).map(move |p| (layer, sequence, p)))
        })
    };
    let number = |(layer, sequence, p): (usize, usize, usize), i: usize| {
        (((layer * 2 + sequence) * 200 + p) * 60 + i) as f32
    };
    for place in places() {
        let keys: Vec<f32> = (0..60).map(|i| number(place, i)).collect();
        let values: Vec<f32> = keys.iter().map(|x| -x).collect();
        cache.write(place.0, place.1, place.2, &keys, &values);
    }
    for place in places() {
        for head in 0..12 {
            let run = cache.run(place.0, place.1, head, place.2..place.2 + 1);
            let expected = [0, 1, 2, 3, 4].map(|i| number(place, head * 5 + i));
            let (keys, values) = (numbers(run.keys), numbers(run.values));
            assert!(
                keys == expected && values == expected.map(|x| -x),
                "layer {}, sequence {}, position {}, head {head} of {shape:?}: found keys {keys:?} \
                 and values {values:?}, expected keys {expected:?} and values of the opposite sign",
                place.0,
                place.1,
                place.2
            );
        }
    }
}

#[test]
fn task_1_panics_on_out_of_range_indices() {
    let row = [1.0; 8];
    let mut cache = DenseCache::new(SHAPE, CacheType::F32);
    check::assert_accepts("write at position 6 of a cache with capacity 7", || {
        cache.write(0, 0, 6, &row, &row);
    });
    check::assert_panics("write at position 7 of a cache with capacity 7", || {
        DenseCache::new(SHAPE, CacheType::F32).write(0, 0, 7, &row, &row);
    });
    check::assert_panics("write to sequence 3 of a cache with 3 sequences", || {
        DenseCache::new(SHAPE, CacheType::F32).write(0, 3, 0, &row, &row);
    });
    check::assert_panics("write to layer 2 of a cache with 2 layers", || {
        DenseCache::new(SHAPE, CacheType::F32).write(2, 0, 0, &row, &row);
    });
    check::assert_accepts("run of positions 5 and 6 of a cache with capacity 7", || {
        cache.run(0, 0, 0, 5..7).len
    });
    check::assert_panics("run of 8 positions of a cache with capacity 7", || {
        cache.run(0, 0, 0, 0..8).len
    });
    check::assert_panics("run of positions 6 and 7 of a cache with capacity 7", || {
        cache.run(0, 0, 0, 6..8).len
    });
    check::assert_panics("run of head 2 of a cache with 2 heads", || cache.run(0, 0, 2, 0..1).len);
    check::assert_panics("run of sequence 3 of a cache with 3 sequences", || {
        cache.run(0, 3, 0, 0..1).len
    });
    check::assert_panics("run of layer 2 of a cache with 2 layers", || {
        cache.run(2, 0, 0, 0..1).len
    });
    check::assert_accepts("run of the last position of the last layer, sequence and head", || {
        cache.run(1, 2, 1, 6..7).len
    });
}

#[test]
fn task_1_caches_are_independent() {
    let shapes = [
        SHAPE,
        CacheShape { layers: 3, sequences: 1, kv_heads: 4, capacity: 5, head_dim: 3 },
        CacheShape { layers: 2, sequences: 3, kv_heads: 1, capacity: 9, head_dim: 8 },
    ];
    let mut caches = shapes.map(|shape| DenseCache::new(shape, CacheType::F32));
    let number = |cache: usize, place: usize, i: usize| (1000 * cache + 100 * place + i) as f32;
    // Position by position, in one cache after the other.
    for position in 0..5 {
        for (i, (cache, shape)) in caches.iter_mut().zip(shapes).enumerate() {
            let n = shape.kv_heads * shape.head_dim;
            let keys: Vec<f32> = (0..n).map(|j| number(i, position, j)).collect();
            let values: Vec<f32> = keys.iter().map(|x| -x).collect();
            cache.write(shape.layers - 1, shape.sequences - 1, position, &keys, &values);
        }
    }
    for position in 0..5 {
        for (i, (cache, shape)) in caches.iter().zip(shapes).enumerate() {
            for head in 0..shape.kv_heads {
                let (layer, sequence) = (shape.layers - 1, shape.sequences - 1);
                let run = cache.run(layer, sequence, head, position..position + 1);
                let at = head * shape.head_dim;
                let expected: Vec<f32> =
                    (at..at + shape.head_dim).map(|j| number(i, position, j)).collect();
                let found = (numbers(run.keys), numbers(run.values));
                let negative: Vec<f32> = expected.iter().map(|x| -x).collect();
                assert!(
                    found == (expected.clone(), negative),
                    "three caches, written in turn: at position {position}, head {head} of \
                     {shape:?}, found keys and values {found:?}, expected keys {expected:?} and \
                     values of the opposite sign\n  each cache has its own shape and data: share \
                     nothing between caches"
                );
            }
        }
    }
}

#[test]
fn task_1_special_values_are_preserved() {
    let row = [
        -0.0,
        f32::from_bits(1),
        f32::MIN_POSITIVE / 2.0,
        0.1,
        65_520.0,
        -f32::MAX,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let shape = CacheShape { layers: 1, sequences: 1, kv_heads: 2, capacity: 1, head_dim: 4 };
    for cache_type in [CacheType::F32, CacheType::F16] {
        let mut cache = DenseCache::new(shape, cache_type);
        cache.write(0, 0, 0, &row, &row);
        for head in 0..2 {
            let run = cache.run(0, 0, head, 0..1);
            for (i, x) in row[4 * head..][..4].iter().enumerate() {
                for found in [numbers(run.keys)[i], numbers(run.values)[i]] {
                    let right = match cache_type {
                        CacheType::F32 => found.to_bits() == x.to_bits(),
                        _ if x.is_nan() => found.is_nan(),
                        _ => {
                            found.is_sign_negative() == x.is_sign_negative()
                                && (x.is_infinite() || x.abs() > 65_504.0) == found.is_infinite()
                        }
                    };
                    assert!(
                        right,
                        "{x:e} written to a cache of {cache_type} was read as {found:e}: f32 must \
                         keep every bit, and f16 the sign, infinity and NaN"
                    );
                }
            }
        }
    }
}
