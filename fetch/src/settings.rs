//! Settings, from the same environment variables as in `huggingface_hub`.

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context, Result, anyhow, ensure};
use tiny_llm_formats::hub::cache_of;

/// How to reach the hub, and where to store files.
#[derive(Clone)]
pub struct Settings {
    /// The hub's URL, without a final `/`.
    pub endpoint: String,
    /// The token that identifies a user.
    pub token: Option<String>,
    /// Whether network access is forbidden.
    pub offline: bool,
    /// The folder of the cache.
    pub cache: PathBuf,
    /// Timeout for connecting and receiving the response's headers.
    pub answer_time: Duration,
    /// Maximum time without new bytes during a download.
    pub stall_time: Duration,
    /// Pause before the second attempt. Each further failed attempt doubles it.
    pub pause: Duration,
}

impl Settings {
    /// Reads the settings from the environment.
    ///
    /// # Errors
    /// If a variable has an invalid value. The message is one line.
    pub fn from_environment() -> Result<Self> {
        Self::of(|name| std::env::var(name).ok())
    }

    /// Reads the settings. `variable` returns the value of the environment variable with the given
    /// name. An empty variable counts as absent.
    ///
    /// # Errors
    /// If a variable has an invalid value. The message is one line.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let of = |name: &str| variable(name).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
        let is_set = |name: &str| {
            let yes = ["1", "ON", "YES", "TRUE"];
            of(name).is_some_and(|value| yes.contains(&value.to_uppercase().as_str()))
        };
        let seconds = |name: &str| match of(name) {
            None => Ok(Duration::from_secs(10)),
            Some(text) => text
                .parse()
                .ok()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .filter(|time| !time.is_zero())
                .with_context(|| format!("{name}: found {text:?}, expected a number of seconds")),
        };
        let endpoint = of("HF_ENDPOINT").unwrap_or_else(|| "https://huggingface.co".to_owned());
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let host = endpoint.strip_prefix("https://").or_else(|| endpoint.strip_prefix("http://"));
        ensure!(
            host.is_some_and(|host| !host.is_empty() && !host.contains(['?', '#', '@', ' '])),
            "HF_ENDPOINT: found {endpoint:?}, expected an address such as https://huggingface.co"
        );
        let cache = cache_of(|name| of(name).map(Into::into), std::env::home_dir().as_deref())
            .context("found no home folder: set HF_HUB_CACHE to the cache's folder")?;
        let token = match of("HF_TOKEN").or_else(|| of("HUGGING_FACE_HUB_TOKEN")) {
            Some(token) => Some(token),
            None if is_set("HF_HUB_DISABLE_IMPLICIT_TOKEN") => None,
            None => read_token(&match of("HF_TOKEN_PATH") {
                Some(path) => path.into(),
                None => home_of_tokens(of).unwrap_or_default().join("token"),
            })?,
        };
        ensure!(
            token.iter().all(|token| token.bytes().all(|byte| byte.is_ascii_graphic())),
            "HF_TOKEN: found a space or a character that is not ASCII, expected a token"
        );
        Ok(Self {
            endpoint,
            token,
            offline: is_set("HF_HUB_OFFLINE") || is_set("TRANSFORMERS_OFFLINE"),
            cache,
            answer_time: seconds("HF_HUB_ETAG_TIMEOUT")?,
            stall_time: seconds("HF_HUB_DOWNLOAD_TIMEOUT")?,
            pause: Duration::from_millis(500),
        })
    }
}

/// Returns the folder of Hugging Face's tools. It contains the token and, unless a variable says
/// otherwise, the cache.
fn home_of_tokens(of: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let own = |name: &str| name == "HF_HOME" || name == "XDG_CACHE_HOME";
    let hub = cache_of(
        |name| of(name).filter(|_| own(name)).map(Into::into),
        std::env::home_dir().as_deref(),
    )?;
    hub.parent().map(PathBuf::from)
}

fn read_token(path: &PathBuf) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|token| !token.is_empty())),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(anyhow!("{}: cannot be read: {e}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Result<Settings> {
        Settings::of(|name| {
            pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn reads_the_variables_of_huggingface_hub() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().to_str().expect("a name");
        let settings = of(&[("HF_HOME", folder), ("HF_ENDPOINT", "http://hub.example:8080//")]);
        let settings = settings.expect("settings");
        assert_eq!(settings.cache, home.path().join("hub"));
        assert_eq!(settings.endpoint, "http://hub.example:8080");
        assert_eq!((settings.token, settings.offline), (None, false));

        fs::write(home.path().join("token"), "hf_file\n").expect("a file");
        let with = |name, value| of(&[("HF_HOME", folder), (name, value)]).expect("settings");
        assert_eq!(with("HF_TOKEN", "").token.as_deref(), Some("hf_file"));
        assert_eq!(with("HF_HUB_CACHE", "/other").token.as_deref(), Some("hf_file"));
        assert_eq!(with("HF_TOKEN", " hf_variable\n").token.as_deref(), Some("hf_variable"));
        assert_eq!(with("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1").token, None);
        assert!(with("HF_HUB_OFFLINE", "yes").offline && !with("HF_HUB_OFFLINE", "0").offline);
        let time = with("HF_HUB_DOWNLOAD_TIMEOUT", "0.5").stall_time;
        assert_eq!(time, Duration::from_millis(500));
    }

    #[test]
    fn invalid_values_are_named() {
        for (name, value) in [
            ("HF_ENDPOINT", "huggingface.co"),
            ("HF_ENDPOINT", "https://"),
            ("HF_TOKEN", "hf two"),
            ("HF_HUB_DOWNLOAD_TIMEOUT", "soon"),
            ("HF_HUB_ETAG_TIMEOUT", "-1"),
        ] {
            let error = of(&[(name, value), ("HF_HOME", "/none")]).err().expect(value).to_string();
            assert!(error.starts_with(name) && !error.contains('\n'), "{error}");
        }
    }
}
