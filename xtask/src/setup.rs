//! What the machine needs: found, installed where that is possible, otherwise named exactly.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::{
    command::{ask, run, run_quietly, say, which},
    postgres::Binaries,
};

/// Something that has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// A C compiler and pkg-config.
    Compiler,
    /// The programs of PostgreSQL 15 or newer, and as root the user that it runs as.
    Postgres,
    /// The system's web view, to build the window (Linux).
    WebView,
    /// A virtual display, WebDriver and a Secret Service, to test the window (Linux).
    Display,
    /// Chromium, to test the pages.
    Browser,
    /// `ip` and `unshare`, to put real clients into a network namespace of their own (Linux).
    Network,
    /// A library that lets a program see another time of day (Linux).
    Clock,
    /// Python with its virtual environments, for the SDKs (Linux).
    Python,
}

const CLUSTER_CONFIGURATION: &str = "/etc/postgresql-common/createcluster.conf";

/// Sees to it that everything is there. Says nothing when it is.
pub(crate) fn ensure(needs: &[Need]) -> Result<()> {
    let missing: Vec<Need> = needs.iter().copied().filter(|need| !need.is_met()).collect();
    if !missing.is_empty() {
        install(&missing)?;
        if let Some(still) = missing.iter().find(|need| !need.is_met()) {
            bail!("{} is still missing after the installation; {}", still.name(), still.by_hand());
        }
    }
    if needs.contains(&Need::Postgres) && is_root() && !user_exists("headgate") {
        say("creating the system user headgate, as whom PostgreSQL runs");
        run_quietly(Command::new("useradd").args(["--system", "--user-group", "--no-create-home", "headgate"]))?;
    }
    Ok(())
}

impl Need {
    fn is_met(self) -> bool {
        match self {
            Self::Compiler => {
                which("cc").is_some() && (cfg!(not(target_os = "linux")) || which("pkg-config").is_some())
            }
            Self::Postgres => Binaries::find().is_some(),
            Self::WebView => {
                let libraries = ["--exists", "webkit2gtk-4.1", "ayatana-appindicator3-0.1", "librsvg-2.0"];
                cfg!(not(target_os = "linux")) || ask("pkg-config", &libraries).is_some()
            }
            Self::Display => {
                let programs = ["Xvfb", "WebKitWebDriver", "dbus-run-session", "gnome-keyring-daemon"];
                cfg!(not(target_os = "linux")) || programs.iter().all(|program| which(program).is_some())
            }
            Self::Browser => which("chromium").is_some(),
            Self::Network => cfg!(not(target_os = "linux")) || (which("ip").is_some() && which("unshare").is_some()),
            Self::Clock => {
                let mut places = ["x86_64-linux-gnu", "aarch64-linux-gnu"].into_iter();
                cfg!(not(target_os = "linux"))
                    || places.any(|p| Path::new("/usr/lib").join(p).join("faketime/libfaketimeMT.so.1").is_file())
            }
            Self::Python => {
                cfg!(not(target_os = "linux")) || ask("python3", &["-c", "import venv, ensurepip"]).is_some()
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Compiler => "A C compiler with pkg-config",
            Self::Postgres => "PostgreSQL 15 or newer",
            Self::WebView => "The web view's library (WebKitGTK 4.1)",
            Self::Display => "A virtual display with WebDriver and a keychain",
            Self::Browser => "Chromium",
            Self::Network => "ip and unshare",
            Self::Clock => "A clock that jumps",
            Self::Python => "Python 3 with venv",
        }
    }

    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Compiler => &["build-essential", "pkg-config"],
            Self::Postgres => &["postgresql"],
            Self::WebView => {
                &["libwebkit2gtk-4.1-dev", "libgtk-3-dev", "libayatana-appindicator3-dev", "librsvg2-dev", "pkg-config"]
            }
            Self::Display => {
                &["xvfb", "webkit2gtk-driver", "dbus", "gnome-keyring", "fonts-dejavu-core", "imagemagick"]
            }
            Self::Browser => &["chromium", "fonts-noto-cjk"],
            Self::Network => &["iproute2", "util-linux"],
            Self::Clock => &["libfaketime"],
            Self::Python => &["python3", "python3-venv"],
        }
    }

    fn by_hand(self) -> &'static str {
        match (self, std::env::consts::OS) {
            (Self::Network, _) => "install iproute2 and util-linux with the system's package manager",
            (Self::Clock, _) => "install libfaketime with the system's package manager",
            (Self::Python, _) => "install python3 with its venv module",
            (Self::WebView, _) => {
                "install the development packages of WebKitGTK 4.1, libayatana-appindicator3 and librsvg"
            }
            (Self::Display, _) => "install Xvfb, WebKitWebDriver, dbus and gnome-keyring",
            (Self::Browser, _) => "install Chromium as 'chromium'",
            (Self::Compiler, "macos") => "run: xcode-select --install",
            (Self::Compiler, "windows") => "install the Visual Studio Build Tools with the C++ workload",
            (Self::Compiler, _) => "install gcc (or clang), make and pkg-config with the system's package manager",
            (Self::Postgres, "macos") => "run: brew install postgresql@17",
            (Self::Postgres, "windows") => {
                "install PostgreSQL from postgresql.org and set HEADGATE_PG_BIN to its bin folder"
            }
            (Self::Postgres, _) => {
                "install PostgreSQL 15 or newer with the system's package manager (its server programs, as \
                 postgresql-server), or set HEADGATE_PG_BIN to the folder of initdb and postgres"
            }
        }
    }
}

fn install(missing: &[Need]) -> Result<()> {
    let Some(privilege) = Privilege::find().filter(|_| has_apt()) else {
        let list: Vec<String> = missing.iter().map(|n| format!("- {}: {}", n.name(), n.by_hand())).collect();
        if has_apt() {
            let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages()).copied().collect();
            bail!("Something is missing. As root, run: apt-get install {}", packages.join(" "));
        }
        bail!("Something is missing:\n{}", list.join("\n"));
    };
    say("updating the list of packages");
    privilege.apt(&["update", "-q"])?;
    for need in missing {
        if *need == Need::Postgres {
            // The package would make and start a cluster of its own; only its programs are wanted.
            if ask("dpkg-query", &["-W", "-f=${Status}", "postgresql-common"])
                .is_none_or(|status| !status.ends_with("installed"))
            {
                say("installing postgresql-common");
                privilege.apt_install(&["postgresql-common"])?;
            }
            if let Some(changed) = without_main_cluster(Path::new(CLUSTER_CONFIGURATION))? {
                privilege.write(CLUSTER_CONFIGURATION, &changed)?;
            }
        }
        say(&format!("installing {}", need.packages().join(" ")));
        privilege.apt_install(need.packages())?;
    }
    Ok(())
}

/// The file with `create_main_cluster = false` in it; none if it says so already.
fn without_main_cluster(path: &Path) -> Result<Option<String>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(e).with_context(|| format!("{} cannot be read", path.display())),
    };
    let is_setting = |line: &&str| {
        line.split_once('=').is_some_and(|(key, _)| key.trim().trim_start_matches('#').trim() == "create_main_cluster")
    };
    let says_false = |line: &str| {
        !line.trim_start().starts_with('#') && line.split_once('=').is_some_and(|(_, v)| v.trim() == "false")
    };
    if text.lines().filter(is_setting).any(says_false) {
        return Ok(None);
    }
    let mut lines: Vec<&str> = text.lines().filter(|line| !is_setting(line)).collect();
    lines.push("create_main_cluster = false\n");
    Ok(Some(lines.join("\n")))
}

/// How commands are run that only root may.
struct Privilege {
    sudo: bool,
}

impl Privilege {
    /// Root itself, or sudo: without a password, or with one that can be typed.
    fn find() -> Option<Self> {
        use std::io::IsTerminal;
        if is_root() {
            return Some(Self { sudo: false });
        }
        let usable =
            which("sudo").is_some() && (ask("sudo", &["-n", "true"]).is_some() || std::io::stdin().is_terminal());
        usable.then_some(Self { sudo: true })
    }

    fn command(&self, program: &str) -> Command {
        if self.sudo {
            let mut command = Command::new("sudo");
            command.arg("--").arg(program);
            command
        } else {
            Command::new(program)
        }
    }

    /// Waits for another package manager rather than failing.
    fn apt(&self, arguments: &[&str]) -> Result<()> {
        let mut command = self.command("env");
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-o", "DPkg::Lock::Timeout=300"]).args(arguments);
        if self.sudo { run(&mut command) } else { run_quietly(&mut command) }
    }

    fn apt_install(&self, packages: &[&str]) -> Result<()> {
        let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
        arguments.extend(packages);
        self.apt(&arguments)
    }

    fn write(&self, path: &str, content: &str) -> Result<()> {
        use std::io::Write;
        let mut child = self.command("tee").arg(path).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        child.stdin.take().context("tee has no input")?.write_all(content.as_bytes())?;
        if !child.wait()?.success() {
            bail!("{path} could not be written");
        }
        Ok(())
    }
}

fn has_apt() -> bool {
    which("apt-get").is_some() && which("dpkg").is_some()
}

/// Whether this process is root.
pub(crate) fn is_root() -> bool {
    cfg!(unix) && ask("id", &["-u"]).as_deref() == Some("0")
}

/// Whether there is a user of this name.
pub(crate) fn user_exists(name: &str) -> bool {
    ask("id", &["-u", "--", name]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packages_own_cluster_is_switched_off_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("createcluster.conf");
        assert_eq!(without_main_cluster(&path).unwrap().unwrap(), "create_main_cluster = false\n");
        fs::write(&path, "# settings\n#create_main_cluster = true\nssl = on\n").unwrap();
        let changed = without_main_cluster(&path).unwrap().unwrap();
        assert_eq!(changed, "# settings\nssl = on\ncreate_main_cluster = false\n");
        fs::write(&path, changed).unwrap();
        assert_eq!(without_main_cluster(&path).unwrap(), None);
    }
}
