//! `headgate check FILE`: everything that can be known without a gateway.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result};
use headgate_domain::{configuration::without_effect, standalone};

/// Flags.
#[derive(clap::Args)]
pub struct Args {
    /// The configuration file
    file: PathBuf,
}

/// Checks the file; problems go to standard error and make the command fail.
pub fn run(args: &Args) -> Result<ExitCode> {
    let text =
        std::fs::read_to_string(&args.file).with_context(|| format!("{} cannot be read", args.file.display()))?;
    match standalone::read(&text) {
        Ok(next) => {
            for note in without_effect(&next) {
                eprintln!("note: {note}");
            }
            println!(
                "{} is legal: {} upstreams, {} groups, {} keys",
                args.file.display(),
                next.upstreams.len(),
                next.groups.len(),
                next.keys.len()
            );
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            for problem in &problems {
                eprintln!("{problem}");
            }
            eprintln!("headgate: {} has {} problem(s)", args.file.display(), problems.len());
            Ok(ExitCode::FAILURE)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_readme_is_legal() {
        let next =
            standalone::read(include_str!("../../../docs/examples/headgate.yaml")).unwrap_or_else(|p| panic!("{p:?}"));
        assert!(without_effect(&next).is_empty());
    }
}
