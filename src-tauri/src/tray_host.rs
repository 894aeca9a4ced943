//! Who draws the tray: on Linux another program, the panel, which may be there, come later, or never.

#[cfg(not(target_os = "linux"))]
pub fn is_there() -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
pub fn wait(_: impl FnOnce() + Send + 'static) {}

#[cfg(target_os = "linux")]
pub use self::bus::{is_there, wait};

#[cfg(target_os = "linux")]
mod bus {
    use zbus::blocking::{Connection, fdo::DBusProxy};

    /// The name it has on the session's bus.
    const NAME: &str = "org.kde.StatusNotifierWatcher";

    /// Whether anything would show an icon.
    pub fn is_there() -> bool {
        let ask = || -> zbus::Result<bool> {
            let names = DBusProxy::new(&Connection::session()?)?;
            Ok(names.name_has_owner(NAME.try_into()?)?)
        };
        ask().unwrap_or(false)
    }

    /// Waits for it in a thread of its own; a session without a bus has no tray, ever.
    pub fn wait(then: impl FnOnce() + Send + 'static) {
        std::thread::spawn(move || match until_there() {
            Ok(()) => then(),
            Err(why) => tracing::debug!(error = %why, "no tray is waited for"),
        });
    }

    fn until_there() -> zbus::Result<()> {
        let names = DBusProxy::new(&Connection::session()?)?;
        let changes = names.receive_name_owner_changed_with_args(&[(0, NAME)])?;
        // It may have come between the first look and now.
        if names.name_has_owner(NAME.try_into()?)? {
            return Ok(());
        }
        for change in changes {
            if change.args()?.new_owner().is_some() {
                break;
            }
        }
        Ok(())
    }
}
