//! Creates a copy of the repository that steps may change.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use anyhow::Result;

use crate::{
    curriculum::Curriculum,
    files::{list, write_if_changed},
    stubs::generated,
};

/// Turns the folder `tree` into a copy of the repository with newly generated stubs. `instead` has
/// the files to replace or add. Returns the number of files.
pub(crate) fn copy_tree(
    root: &Path,
    curriculum: &Curriculum,
    tree: &Path,
    mut instead: BTreeMap<PathBuf, Vec<u8>>,
) -> Result<usize> {
    for file in generated(root, curriculum)? {
        instead.entry(PathBuf::from(file.path)).or_insert(file.stub.into_bytes());
    }
    let mut files = BTreeSet::new();
    list(root, Path::new(""), &mut files)?;
    files.extend(instead.keys().cloned());
    for file in &files {
        match instead.get(file) {
            Some(content) => write_if_changed(&tree.join(file), content)?,
            None => write_if_changed(&tree.join(file), &fs::read(root.join(file))?)?,
        }
    }
    let mut there = BTreeSet::new();
    list(tree, Path::new(""), &mut there)?;
    for stale in there.difference(&files) {
        fs::remove_file(tree.join(stale))?;
        // Also remove folders that become empty.
        let mut folder = stale.parent();
        while let Some(empty) = folder.filter(|at| fs::remove_dir(tree.join(at)).is_ok()) {
            folder = empty.parent();
        }
    }
    Ok(files.len())
}
