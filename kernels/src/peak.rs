//! Measures the highest rate at which a processor's units multiply, for comparison with the rate of
//! prefill.

/// Returns the total rate of the matrix units, in operations per second, if `threads` threads use
/// them without loads or stores. The product of two bytes counts as two operations, a
/// multiplication and an addition. The result is the best of several short runs. Returns `None` if
/// there is no usable unit.
pub fn of_matrix_units(threads: usize) -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if crate::amx::state().is_ok() {
        const TURNS: usize = 400_000;
        let pass = || {
            let start = std::time::Instant::now();
            let operations: usize = std::thread::scope(|scope| {
                let others: Vec<_> = (1..threads)
                    .map(|_| scope.spawn(|| crate::amx::multiply_in_place(TURNS)))
                    .collect();
                let own = crate::amx::multiply_in_place(TURNS);
                own + others.into_iter().filter_map(|other| other.join().ok()).sum::<usize>()
            });
            operations as f64 / start.elapsed().as_secs_f64()
        };
        return Some((0..10).map(|_| pass()).fold(0.0, f64::max));
    }
    let _ = threads;
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_a_rate_if_there_is_a_unit() {
        let rate = of_matrix_units(2);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(rate.is_some(), crate::amx::state().is_ok());
        #[cfg(not(target_arch = "x86_64"))]
        assert_eq!(rate, None);
        assert!(rate.is_none_or(|rate| rate > 0.0), "found {rate:?}");
    }
}
