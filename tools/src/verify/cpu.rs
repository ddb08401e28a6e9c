//! Processor time: the cost of a step, independent of other load on the machine.

use std::{fs, time::Duration};

/// Returns the processor time of this program and of all child processes that have ended, or `None`
/// if the system does not report it.
pub(super) fn spent() -> Option<Duration> {
    // Linux: user and system time in hundredths of a second, of the process and of its children,
    // are the 14th to 17th field. The second field is the program's name in parentheses.
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(11).take(4);
    let ticks: u64 = times.map(|ticks| ticks.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_millis(10 * ticks))
}

/// Returns the processor time since `before`.
pub(super) fn since(before: Option<Duration>) -> Option<Duration> {
    Some(spent()?.saturating_sub(before?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::run_quietly;

    #[test]
    fn spent_includes_child_processes() {
        let before = spent();
        let mut busy = std::process::Command::new("sh");
        busy.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
        if run_quietly(&mut busy).is_err() || cfg!(not(target_os = "linux")) {
            return;
        }
        assert!(since(before).unwrap() >= Duration::from_millis(50), "{:?}", since(before));
    }
}
