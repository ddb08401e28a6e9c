//! How fast this machine reads memory: the wall that decoding runs into.

use std::{hint::black_box, time::Instant};

/// Larger than any cache, or the caches are measured.
pub const ENOUGH: usize = 512 << 20;
/// A core that waits for one stream of memory at a time gets a fraction of what it can have.
const STREAMS: usize = 4;
/// A cache line, in numbers of eight bytes.
const LINE: usize = 8;

/// Bytes per second that `threads` threads read together, each from a part of its own: the best of
/// `passes` passes over `bytes` bytes. Run it in a release build, on a machine that does nothing
/// else.
#[must_use]
pub fn measure(threads: usize, bytes: usize, passes: usize) -> f64 {
    let threads = threads.max(1);
    let part = (bytes / threads / 8).max(STREAMS * LINE);
    // Not zeros: pages that were never written may all be one page of the system's.
    let parts: Vec<Vec<u64>> = (0..threads).map(|thread| vec![thread as u64 + 1; part]).collect();
    let pass = || {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for part in &parts[1..] {
                scope.spawn(|| black_box(sum(part)));
            }
            black_box(sum(&parts[0]));
        });
        (threads * part * 8) as f64 / start.elapsed().as_secs_f64()
    };
    (0..passes.max(1)).map(|_| pass()).fold(0.0, f64::max)
}

/// The sum of all numbers, read as several streams, a cache line of each in turn.
fn sum(numbers: &[u64]) -> u64 {
    let streams = numbers.len() / STREAMS / LINE * LINE;
    let [a, b, c, d] =
        std::array::from_fn(|i| numbers[i * streams..(i + 1) * streams].as_chunks::<LINE>().0);
    let mut sums = [0u64; LINE];
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        for i in 0..LINE {
            sums[i] = sums[i].wrapping_add(a[i] ^ b[i] ^ c[i] ^ d[i]);
        }
    }
    sums.iter().fold(0, |total, sum| total.wrapping_add(*sum))
}
