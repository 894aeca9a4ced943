//! The real window, driven under a virtual display.

use std::{env, process::Stdio};

use anyhow::{Context as _, Result};

use crate::{
    clients::in_namespace,
    command::{root, say, target},
    test::Count,
};

/// Whether there is a display to show a window on.
pub(crate) fn has_display() -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

/// Drives the window; in a network that has only loopback. Elsewhere than on Linux it is skipped loudly.
pub(crate) fn test() -> Result<Count> {
    if !cfg!(target_os = "linux") {
        say("SKIPPED: the window is tested on Linux");
        return Ok(Count { skipped: 1, ..Count::default() });
    }
    say("the real window");
    let programs = target()?.join("debug");
    let mut inside = in_namespace()?;
    inside
        .arg(root()?.join("tests/desktop/session.sh"))
        .arg(programs.join("desktop-window"))
        .arg("--app")
        .arg(programs.join("headgate-desktop"));
    let output = inside.stderr(Stdio::inherit()).output().context("the window's tests could not be started")?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let count = Count::of_sum(&text).filter(|c| output.status.success() || c.failed > 0);
    Ok(count.unwrap_or(Count { failed: 1, ..Count::default() }))
}
