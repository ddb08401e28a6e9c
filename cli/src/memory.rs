//! Measures how much memory this process uses, according to the system.

/// Resident memory in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    /// The highest resident memory so far, mapped files included.
    pub(super) peak: u64,
    /// Resident memory that is private to the process: weights, activations, heap.
    pub(super) own: u64,
    /// Resident memory that is backed by files, mostly the mapped checkpoint. The system reclaims
    /// these pages when it needs them.
    pub(super) mapped: u64,
}

impl Memory {
    /// Returns the current values, or `None` if the system does not report them. (Linux does, in
    /// `/proc`.)
    pub(super) fn now() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/self/status").ok()?)
    }

    fn parse(status: &str) -> Option<Self> {
        let field = |name: &str| -> Option<u64> {
            let value =
                status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            Some(value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
        };
        Some(Self { peak: field("VmHWM")?, own: field("RssAnon")?, mapped: field("RssFile")? })
    }
}

/// Formats bytes as `1380.2 MiB`.
pub(super) fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn parses_status_in_kibibytes() {
        let m = Memory::parse(
            "VmPeak:\t  900 kB\nVmHWM:\t  500 kB\nRssAnon:\t  300 kB\nRssFile:\t    2 kB\n",
        )
        .unwrap();
        assert_eq!((m.peak, m.own, m.mapped), (500 * 1024, 300 * 1024, 2048));
        assert!(Memory::parse("VmHWM:\t 500 kB\n").is_none());
    }
}
