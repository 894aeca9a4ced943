//! The real window, driven under a virtual display.

use std::{env, path::Path, process::Command};

use anyhow::Result;

use crate::{
    command::{root, target},
    isolated,
    test::Count,
};

/// Runs a program in a desktop session of its own.
const SESSION: &str = "tests/desktop/session.sh";

/// Whether there is a display to show a window on.
pub(crate) fn has_display() -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Drives the window.
pub(crate) fn test() -> Result<Count> {
    let add = |inside: &mut Command| {
        let programs = target()?.join("debug");
        inside.arg(root()?.join(SESSION)).arg(programs.join("desktop-window"));
        inside.arg("--app").arg(programs.join("headgate-desktop"));
        Ok(())
    };
    isolated::counted("the real window", 1, add, Count::of_sum)
}

/// A command that runs this program in such a session, in a network that has only loopback.
pub(crate) fn session(program: impl AsRef<Path>) -> Result<Command> {
    let mut inside = isolated::command()?;
    inside.arg(root()?.join(SESSION)).arg(program.as_ref());
    Ok(inside)
}
