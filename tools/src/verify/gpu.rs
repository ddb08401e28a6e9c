//! Tests week 4, day 5, on any graphics adapter, including software adapters. Its tests are built
//! separately, because wgpu takes minutes to build.

use anyhow::Result;

use super::{
    context::{Outcome, Verification},
    replay,
};
use crate::{bank::Bodies, grade::machine::without_graphics, proof::Program};

/// Checks that the day's tests fail before each task and pass after it, and that they detect the
/// day's mistakes.
pub(super) fn gpu(v: &Verification) -> Result<Outcome> {
    if let Some(reason) = without_graphics() {
        return Ok(Outcome::NotVerified(reason));
    }
    let days: Vec<_> = v.curriculum.days().filter(|day| day.apart.is_some()).collect();
    let bodies = Bodies::of(&v.root, &v.curriculum, &days)?;
    bodies.write(&v.root, &v.curriculum, &v.proof)?;
    let program = Program::build(&v.root, &v.proof, &days, None)?;
    let (stages, lacking) = replay::stages(v, &program, &days, None)?;
    if let Some(reason) = lacking {
        return Ok(Outcome::NotVerified(reason));
    }
    let mistakes = bodies.try_all(&v.root, &v.curriculum, &program, &bodies.names())?;
    Ok(Outcome::Passed(format!("{stages}; {mistakes}")))
}
