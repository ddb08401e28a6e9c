//! Chooses a rung (set of kernels) for each format.

use tiny_llm_formats::gguf::TensorType;

use crate::rung::Rung;

/// A rung for each format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The rung of each format, in the order of [`TensorType::READ`].
    rungs: [Rung; TensorType::READ.len()],
    alike: bool,
}

impl Choice {
    /// Creates a choice from `of`, which returns the rung for each format.
    pub fn new(of: impl FnMut(TensorType) -> Rung) -> Self {
        Self { rungs: TensorType::READ.map(of), alike: false }
    }

    /// Makes the result for each row of activations independent of the other rows: the result is
    /// the same, to the last bit, as if the row were computed alone. So requests that are computed
    /// together don't affect each other. If a learner's kernel supports only a few rows, it is
    /// replaced by provided kernels, which add in the same order for any number of rows.
    #[must_use]
    pub fn alike(self) -> Self {
        Self { alike: true, ..self }
    }

    /// Returns whether the result for a row of activations never depends on the other rows.
    pub fn is_alike(&self) -> bool {
        self.alike
    }

    /// Returns the rung that multiplies a format.
    pub fn rung(&self, tensor_type: TensorType) -> Rung {
        self.rungs[tensor_type as usize]
    }

    /// Returns the rung whose instructions quantize activations, or `None` if no format needs
    /// integers. The integers are the same on every rung.
    pub fn quantizer(&self) -> Option<Rung> {
        self.rungs.into_iter().filter(|rung| rung.wants_int8()).max()
    }
}

/// The state of one kernel in a solution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// The kernel is provided, not a task.
    Provided,
    /// The kernel is written.
    Written,
    /// The kernel is not written yet. Holds the task in which the learner writes it.
    Missing(String),
}

/// The next kernel to write for a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// The format.
    pub tensor_type: TensorType,
    /// The task in which the learner writes this kernel.
    pub task: String,
}

impl Choice {
    /// Chooses, for each format, the highest rung whose kernel the learner has written. Also
    /// returns the format's next kernel to write, if any: the lowest missing kernel above that
    /// rung, or the lowest of all if the learner has written none. `status` returns the state of a
    /// kernel.
    ///
    /// A format that the course does not teach runs on the best rung of this machine. If the course
    /// teaches a format but provides its kernel on some rung, that kernel counts as written as soon
    /// as the learner has written any kernel of that rung.
    pub fn written_first(mut status: impl FnMut(Rung, TensorType) -> Status) -> (Self, Vec<Next>) {
        let rungs: Vec<Rung> = Rung::available().into_iter().rev().collect();
        let mut statuses = |rung| TensorType::READ.map(|tensor_type| status(rung, tensor_type));
        let ladder: Vec<(Rung, _)> = rungs.iter().map(|&rung| (rung, statuses(rung))).collect();
        let mut next = Vec::new();
        let choice = Self::new(|tensor_type| {
            let of = |statuses: &[Status]| statuses[tensor_type as usize].clone();
            if ladder.iter().all(|(_, statuses)| of(statuses) == Status::Provided) {
                return Rung::best();
            }
            let mut task = None;
            let chosen = ladder.iter().find_map(|(rung, statuses)| match of(statuses) {
                Status::Written => Some(*rung),
                Status::Provided => statuses.contains(&Status::Written).then_some(*rung),
                Status::Missing(name) => {
                    task = Some(name);
                    None
                }
            });
            next.extend(task.map(|task| Next { tensor_type, task }));
            chosen.unwrap_or(Rung::Naive)
        });
        (choice, next)
    }
}

/// Uses one rung for all formats.
impl From<Rung> for Choice {
    fn from(rung: Rung) -> Self {
        Self::new(|_| rung)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_has_its_own_rung() {
        for one in TensorType::READ {
            let choice =
                Choice::new(|other| if other == one { Rung::Integer } else { Rung::Fused });
            for other in TensorType::READ {
                let expected = if other == one { Rung::Integer } else { Rung::Fused };
                assert_eq!(choice.rung(other), expected, "{one}, {other}");
            }
            assert_eq!(choice.quantizer(), Some(Rung::Integer));
        }
        assert_eq!(Choice::from(Rung::Fused).quantizer(), None);
    }

    /// Chooses rungs for a course that teaches Q8_0, Q4_K and Q6_K on the scalar rungs, and Q8_0
    /// and Q4_K also on the first rung above them. `done(rung, format)` returns whether the learner
    /// has written that kernel.
    fn choose(done: impl Fn(Rung, TensorType) -> bool) -> (Choice, Vec<Next>) {
        let highest = Rung::available().into_iter().find(|&rung| rung > Rung::Integer);
        Choice::written_first(|rung, tensor_type| {
            let (q8_0, q4_k) = (TensorType::Q8_0, TensorType::Q4_K);
            let taught = [q8_0, q4_k, TensorType::Q6_K].contains(&tensor_type);
            let taught_here =
                rung <= Rung::Integer || Some(rung) == highest && tensor_type != TensorType::Q6_K;
            match taught && taught_here {
                false => Status::Provided,
                true if done(rung, tensor_type) => Status::Written,
                true => Status::Missing(format!("{rung} {tensor_type}")),
            }
        })
    }

    #[test]
    fn uses_written_kernels_and_names_the_next() {
        let named = |next: Vec<Next>| next.into_iter().map(|next| next.task).collect::<Vec<_>>();
        // Only decoding is written.
        let (choice, next) = choose(|rung, _| rung == Rung::Naive);
        assert_eq!(choice.rung(TensorType::Q8_0), Rung::Naive);
        assert_eq!(choice.rung(TensorType::Q5_K), Rung::best(), "not taught");
        assert_eq!(named(next), ["fused Q8_0", "fused Q4_K", "fused Q6_K"]);
        // One rung is skipped.
        let (choice, _) = choose(|rung, _| rung == Rung::Naive || rung == Rung::Integer);
        assert_eq!(choice.rung(TensorType::Q6_K), Rung::Integer);
        let Some(highest) = Rung::available().into_iter().find(|&rung| rung > Rung::Integer) else {
            return;
        };
        // All kernels of the three scalar rungs are written.
        let (choice, next) = choose(|rung, _| rung <= Rung::Integer);
        assert_eq!(choice.rung(TensorType::Q8_0), Rung::Integer);
        assert_eq!(choice.rung(TensorType::Q6_K), Rung::Integer);
        assert_eq!(named(next), [format!("{highest} Q8_0"), format!("{highest} Q4_K")]);
        // A single kernel of the next rung is written, so the provided kernels of that rung count
        // too.
        let (choice, next) =
            choose(|rung, tensor_type| rung <= Rung::Integer || tensor_type == TensorType::Q8_0);
        assert_eq!(choice.rung(TensorType::Q8_0), highest);
        assert_eq!(choice.rung(TensorType::Q4_K), Rung::Integer);
        assert_eq!(choice.rung(TensorType::Q6_K), highest);
        assert_eq!(named(next), [format!("{highest} Q4_K")]);
        // All kernels are written. A rung whose kernels are all provided is never chosen for a
        // format that the course teaches.
        let (choice, next) = choose(|_, _| true);
        assert_eq!(choice.rung(TensorType::Q4_K), highest);
        assert_eq!(named(next), [""; 0]);
    }
}
