//! Detects what this machine lacks for a day, before anything is built.

use std::path::{Path, PathBuf};

/// Folders of shared libraries on Linux, which also have a folder for each architecture.
const LIBRARIES: [&str; 4] = ["/usr/lib", "/usr/lib64", "/lib", "/usr/local/lib"];
/// Folders with lists of Vulkan drivers.
const DRIVERS: [&str; 4] = [
    "/usr/share/vulkan/icd.d",
    "/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/usr/local/etc/vulkan/icd.d",
];

/// Returns why this machine cannot grade days that need a graphics processor, or `None` if it has
/// Vulkan and a driver. Systems other than Linux are assumed to have them.
pub(crate) fn without_graphics() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let paths = |all: &[&str]| all.iter().map(PathBuf::from).collect::<Vec<_>>();
    let variable = |name: &str| {
        std::env::var_os(name).map(|value| std::env::split_paths(&value).collect::<Vec<_>>())
    };
    let mut libraries = variable("LD_LIBRARY_PATH").unwrap_or_default();
    libraries.extend(paths(&LIBRARIES));
    let drivers = variable("VK_DRIVER_FILES")
        .or_else(|| variable("VK_ICD_FILENAMES"))
        .unwrap_or_else(|| paths(&DRIVERS));
    lacks(&libraries, &drivers).map(|what| {
        format!("{what}; Mesa's software driver will do (`apt install mesa-vulkan-drivers`)")
    })
}

/// Returns what Vulkan lacks. `libraries` are folders. `drivers` are files, or folders of files.
fn lacks(libraries: &[PathBuf], drivers: &[PathBuf]) -> Option<&'static str> {
    let inside = |folder: &PathBuf| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let is_loader = |folder: &Path| folder.join("libvulkan.so.1").exists();
    let loader = libraries
        .iter()
        .any(|folder| is_loader(folder) || inside(folder).iter().any(|path| is_loader(path)));
    if !loader {
        return Some("there is no Vulkan on this machine");
    }
    let driver = drivers.iter().any(|path| path.is_file() || !inside(path).is_empty());
    (!driver).then_some("there is no Vulkan driver on this machine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_a_missing_loader_or_driver() {
        let folder = tempfile::tempdir().unwrap();
        let (library, driver) = (folder.path().join("lib"), folder.path().join("icd.d"));
        let deeper = library.join("x86_64-linux-gnu");
        std::fs::create_dir_all(&deeper).unwrap();
        std::fs::create_dir_all(&driver).unwrap();
        let found = |drivers: &Path| lacks(std::slice::from_ref(&library), &[drivers.to_owned()]);
        assert_eq!(found(&driver), Some("there is no Vulkan on this machine"));
        std::fs::write(deeper.join("libvulkan.so.1"), "").unwrap();
        assert_eq!(found(&driver), Some("there is no Vulkan driver on this machine"));
        let list = driver.join("lvp_icd.json");
        std::fs::write(&list, "{}").unwrap();
        assert_eq!((found(&driver), found(&list)), (None, None));
        assert!(found(Path::new("/nonexistent")).is_some());
    }
}
