//! Programs that are run in a network of their own that has only loopback, so that nothing reaches anything outside.

use std::{
    env,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use crate::{command::say, test::Count};

/// Runs what `add` adds to the command and reads its sum with `sum`. Where that cannot be done, its `tests` are
/// skipped loudly, but never in CI.
pub(crate) fn counted(
    name: &str,
    tests: u64,
    add: impl FnOnce(&mut Command) -> Result<()>,
    sum: fn(&str) -> Option<Count>,
) -> Result<Count> {
    let ci = env::var_os("CI").is_some_and(|v| !v.is_empty());
    let prepared = command().and_then(|mut inside| {
        add(&mut inside)?;
        Ok(inside)
    });
    let mut inside = match prepared {
        Ok(inside) => inside,
        Err(why) if ci => return Err(why.context(format!("{name} cannot be run, which CI does not forgive"))),
        Err(why) => {
            say(&format!("SKIPPED: {name} ({why:#})"));
            return Ok(Count { skipped: tests, ..Count::default() });
        }
    };
    say(name);
    let output = inside.stderr(Stdio::inherit()).output().with_context(|| format!("{name} could not be started"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    // A program that died has failed, whatever it had counted until then.
    let count = sum(&text).filter(|count| output.status.success() || count.failed > 0);
    Ok(count.unwrap_or(Count { failed: 1, ..Count::default() }))
}

/// A command that runs what is added to it in such a network.
pub(crate) fn command() -> Result<Command> {
    // Somebody who is not root stays who he is, for PostgreSQL refuses root; older programs cannot do that.
    let ways: [&[&str]; 3] =
        [&["--net"], &["--map-current-user", "--keep-caps", "--net"], &["--map-root-user", "--net"]];
    let works = |way: &&&[&str]| {
        Command::new("unshare").args(**way).args(["--", "true"]).output().is_ok_and(|o| o.status.success())
    };
    let Some(way) = ways.iter().find(works) else {
        bail!("a network namespace needs Linux with root or user namespaces");
    };
    let mut inside = Command::new("unshare");
    inside.args(*way).args(["--", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"]);
    Ok(inside)
}
