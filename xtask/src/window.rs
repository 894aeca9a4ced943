//! The real window, driven under a virtual display.

use std::{env, process::Command};

use anyhow::Result;

use crate::{
    command::{root, target},
    isolated,
    test::Count,
};

/// Whether there is a display to show a window on.
pub(crate) fn has_display() -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Drives the window.
pub(crate) fn test() -> Result<Count> {
    let add = |inside: &mut Command| {
        let programs = target()?.join("debug");
        inside.arg(root()?.join("tests/desktop/session.sh")).arg(programs.join("desktop-window"));
        inside.arg("--app").arg(programs.join("headgate-desktop"));
        Ok(())
    };
    isolated::counted("the real window", 1, add, Count::of_sum)
}
