//! Random requests: arrival times, lengths and prefixes.

use fastrand::Rng;

/// Parameters of a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Number of requests.
    pub requests: usize,
    /// Average requests per second.
    pub rate: f64,
    /// Arrival rate during a burst, as a multiple of the average rate. With 1, there are no pauses
    /// between bursts.
    pub burst: f64,
    /// Number of tokens of a prompt, without the shared prefix.
    pub prompt: LogNormal,
    /// Number of tokens of an answer.
    pub answer: LogNormal,
    /// Number of different shared prefixes. 0 means that no prefix is shared.
    pub shared_prompts: usize,
    /// Number of tokens in a shared prefix.
    pub shared_tokens: usize,
    /// Maximum tokens of prompt and answer together.
    pub context: usize,
    pub seed: u64,
}

/// A log-normal distribution of lengths, which approximates real conversations well.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogNormal {
    pub median: f64,
    /// Standard deviation of the logarithm of the length.
    pub sigma: f64,
}

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arrival {
    /// Arrival time in seconds from the start.
    pub time: f64,
    pub prompt: Vec<u32>,
    pub max_new_tokens: usize,
}

/// Average duration of a burst in seconds.
const BURST: f64 = 10.0;
/// Number of bits of a number that tokens encode, one bit per token. After that, the bits repeat.
const NAME: usize = 64;

/// An iterator over the requests of a load, in order of arrival. Equal loads with equal seeds
/// produce equal requests.
pub(super) struct Arrivals {
    load: Load,
    rng: Rng,
    time: f64,
    /// End of the current burst.
    burst_end: f64,
    next: usize,
}

impl Arrivals {
    pub(super) fn new(load: Load) -> Self {
        let mut rng = Rng::with_seed(load.seed);
        let burst_end = exponential(&mut rng, BURST);
        Self { load, rng, time: 0.0, burst_end, next: 0 }
    }

    /// Advances to the next arrival of an interrupted Poisson process.
    fn advance(&mut self) {
        let Load { rate, burst, .. } = self.load;
        let mut gap = exponential(&mut self.rng, 1.0 / (rate * burst));
        while burst > 1.0 && self.time + gap > self.burst_end {
            gap -= self.burst_end - self.time;
            self.time = self.burst_end + exponential(&mut self.rng, BURST * (burst - 1.0));
            self.burst_end = self.time + exponential(&mut self.rng, BURST);
        }
        self.time += gap;
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let load = self.load;
        if self.next == load.requests {
            return None;
        }
        self.advance();
        let shared = if load.shared_prompts > 0 { load.shared_tokens } else { 0 };
        let room = load.context.saturating_sub(shared).max(2);
        let own = load.prompt.draw(&mut self.rng).clamp(1, room - 1);
        let mut prompt = Vec::with_capacity(shared + own);
        if shared > 0 {
            let which = self.rng.u64(..load.shared_prompts as u64);
            spell(which, shared, &mut prompt);
        }
        spell(self.next as u64, own, &mut prompt);
        let max_new_tokens = load.answer.draw(&mut self.rng).clamp(1, room - own);
        self.next += 1;
        Some(Arrival { time: self.time, prompt, max_new_tokens })
    }
}

/// Appends `tokens` tokens to `out`, each 0 or 1, that encode `number`.
pub(super) fn spell(number: u64, tokens: usize, out: &mut Vec<u32>) {
    // The multiplication mixes all bits, so that even the first few tokens differ.
    let bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    out.extend((0..tokens).map(|i| (bits >> (i % NAME) & 1) as u32));
}

impl LogNormal {
    fn draw(self, rng: &mut Rng) -> usize {
        // Box-Muller transform.
        let radius = (-2.0 * uniform(rng).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * uniform(rng)).cos();
        (self.median * (self.sigma * normal).exp()).round() as usize
    }
}

fn exponential(rng: &mut Rng, mean: f64) -> f64 {
    -mean * uniform(rng).ln()
}

/// Returns a uniformly distributed number above 0 and at most 1.
fn uniform(rng: &mut Rng) -> f64 {
    1.0 - rng.f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(burst: f64) -> Load {
        Load {
            requests: 20_000,
            rate: 5.0,
            burst,
            prompt: LogNormal { median: 100.0, sigma: 0.8 },
            answer: LogNormal { median: 50.0, sigma: 0.5 },
            shared_prompts: 0,
            shared_tokens: 0,
            context: 100_000,
            seed: 3,
        }
    }

    fn gaps(load: Load) -> Vec<f64> {
        let times: Vec<f64> = Arrivals::new(load).map(|arrival| arrival.time).collect();
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// Returns the coefficient of variation of `gaps`, the times between arrivals. For a Poisson
    /// process, it is 1.
    fn variation(gaps: &[f64]) -> f64 {
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        square.sqrt() / mean
    }

    #[test]
    fn bursts_keep_the_average_rate() {
        let mean = |gaps: &[f64]| gaps.iter().sum::<f64>() / gaps.len() as f64;
        let (even, bursts) = (gaps(load(1.0)), gaps(load(4.0)));
        assert!((mean(&even) - 0.2).abs() < 0.005, "{}", mean(&even));
        assert!((variation(&even) - 1.0).abs() < 0.03, "{}", variation(&even));
        assert!((mean(&bursts) - 0.2).abs() < 0.03, "{}", mean(&bursts));
        assert!(variation(&bursts) > 2.0, "{}", variation(&bursts));
    }

    #[test]
    fn prompt_lengths_are_log_normal() {
        let mut prompts: Vec<usize> =
            Arrivals::new(load(1.0)).map(|arrival| arrival.prompt.len()).collect();
        prompts.sort_unstable();
        let at = |share: f64| prompts[(share * prompts.len() as f64) as usize] as f64;
        assert!((at(0.5) / 100.0 - 1.0).abs() < 0.03, "{}", at(0.5));
        // One standard deviation above the median.
        assert!((at(0.8413) / (100.0 * 0.8f64.exp()) - 1.0).abs() < 0.04, "{}", at(0.8413));
    }

    #[test]
    fn prompts_share_a_prefix_and_differ_after_it() {
        let load = Load { shared_prompts: 3, shared_tokens: 70, requests: 200, ..load(1.0) };
        let prompts: Vec<_> = Arrivals::new(load).map(|arrival| arrival.prompt).collect();
        let mut beginnings: Vec<_> = prompts.iter().map(|prompt| &prompt[..70]).collect();
        beginnings.sort_unstable();
        beginnings.dedup();
        assert_eq!(beginnings.len(), 3);
        let same = prompts.iter().filter(|prompt| prompt[70..] == prompts[0][70..]).count();
        assert_eq!(same, 1);
    }

    #[test]
    fn every_request_fits_in_the_context() {
        let load = Load { context: 64, requests: 500, ..load(1.0) };
        for arrival in Arrivals::new(load) {
            assert!(!arrival.prompt.is_empty() && arrival.max_new_tokens > 0);
            assert!(arrival.prompt.len() + arrival.max_new_tokens <= 64);
        }
    }

    #[test]
    fn equal_seeds_give_equal_requests() {
        let arrivals = |seed| {
            let load = Load { seed, requests: 50, ..load(2.0) };
            Arrivals::new(load).collect::<Vec<_>>()
        };
        assert_eq!(arrivals(1), arrivals(1));
        assert_ne!(arrivals(1), arrivals(2));
    }
}
