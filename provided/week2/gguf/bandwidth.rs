//! Measures this machine's memory bandwidth, which limits decoding speed.

use std::{hint::black_box, time::Instant};

/// A suitable number of bytes for [`measure`]. It is larger than the caches of most machines, so
/// the data is read from memory.
pub const ENOUGH: usize = 512 << 20;
/// Number of streams (separate regions of memory) that a core reads in turn. With a single stream,
/// a core reaches only a fraction of its bandwidth.
const STREAMS: usize = 4;
/// Number of 8-byte elements in a cache line.
const LINE: usize = 8;

/// Measures the total bandwidth of `threads` threads. Each thread reads its own buffer. Each of the
/// `passes` passes reads `bytes` bytes in total. Returns the bandwidth of the fastest pass, in
/// bytes per second. Call this function only in a release build, on an otherwise idle machine.
#[must_use]
pub fn measure(threads: usize, bytes: usize, passes: usize) -> f64 {
    let threads = threads.max(1);
    let part = (bytes / threads / 8).max(STREAMS * LINE);
    // Not zeros: the system may map all never-written pages to the same physical page.
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

/// Reads `numbers` and combines them into one number. Reads several streams at once, one cache line
/// of each in turn.
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
