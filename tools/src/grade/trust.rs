//! Whether this machine is one to run strangers' code on: a container, or a machine of continuous
//! integration.

use std::path::Path;

/// Variables that services of continuous integration set.
const CI: [&str; 8] = [
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "JENKINS_URL",
    "BUILDKITE",
    "CIRCLECI",
    "TRAVIS",
    "TF_BUILD",
];

/// Words in `/proc/1/cgroup` and `/proc/self/cgroup` that only a container has there.
const CGROUPS: [&str; 5] = ["docker", "containerd", "kubepods", "libpod", "lxc"];

/// What says that this is a throw-away machine; `None` if nothing does.
pub(super) fn evidence() -> Option<String> {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cgroups = read("/proc/1/cgroup") + &read("/proc/self/cgroup");
    judge(|path| Path::new(path).exists(), |name| std::env::var(name).ok(), &cgroups)
}

fn judge(
    exists: impl Fn(&str) -> bool,
    variable: impl Fn(&str) -> Option<String>,
    cgroups: &str,
) -> Option<String> {
    if let Some(path) = ["/.dockerenv", "/run/.containerenv"].into_iter().find(|path| exists(path))
    {
        return Some(format!("a container: {path} exists"));
    }
    if variable("KUBERNETES_SERVICE_HOST").is_some() {
        return Some("a container: KUBERNETES_SERVICE_HOST is set".to_owned());
    }
    if let Some(word) = CGROUPS.into_iter().find(|word| cgroups.contains(word)) {
        return Some(format!("a container: its control group is {word}'s"));
    }
    let set = |name: &&str| {
        variable(name).is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
    };
    CI.into_iter().find(set).map(|name| format!("continuous integration: {name} is set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, variable: &str, value: &str, cgroups: &str) -> Option<String> {
        judge(|asked| asked == path, |asked| (asked == variable).then(|| value.to_owned()), cgroups)
    }

    #[test]
    fn containers_and_ci_are_known_and_nothing_else() {
        assert_eq!(found("", "", "", "0::/user.slice/session-2.scope\n"), None);
        assert_eq!(found("", "CI", "false", ""), None);
        assert_eq!(found("", "CI", "", ""), None);
        assert_eq!(found("/.dockerenv", "", "", "").unwrap(), "a container: /.dockerenv exists");
        assert_eq!(
            found("", "KUBERNETES_SERVICE_HOST", "10.0.0.1", "").unwrap(),
            "a container: KUBERNETES_SERVICE_HOST is set"
        );
        assert_eq!(
            found("", "", "", "0::/kubepods/besteffort").unwrap(),
            "a container: its control group is kubepods's"
        );
        assert_eq!(
            found("", "GITLAB_CI", "true", "").unwrap(),
            "continuous integration: GITLAB_CI is set"
        );
    }
}
