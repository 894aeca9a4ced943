//! The tray of the session: without one the program does not start out of sight. It takes icons and draws nothing.

use anyhow::{Context as _, Result};
use zbus::Connection;

/// Apart, because what the macro makes of it is public.
mod watcher {
    use parking_lot::Mutex;
    use zbus::{message::Header, object_server::SignalEmitter};

    #[derive(Default)]
    pub(super) struct Watcher(Mutex<Vec<String>>);

    #[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
    impl Watcher {
        async fn register_status_notifier_item(
            &self,
            service: &str,
            #[zbus(header)] header: Header<'_>,
            #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
        ) -> zbus::fdo::Result<()> {
            let sender = header.sender().map(ToString::to_string).unwrap_or_default();
            self.0.lock().push(format!("{sender}{service}"));
            Self::status_notifier_item_registered(&emitter, service).await?;
            Ok(())
        }

        fn register_status_notifier_host(&self, _service: &str) {}

        #[zbus(property)]
        fn registered_status_notifier_items(&self) -> Vec<String> {
            self.0.lock().clone()
        }

        #[zbus(property)]
        fn is_status_notifier_host_registered(&self) -> bool {
            true
        }

        #[zbus(property)]
        fn protocol_version(&self) -> i32 {
            0
        }

        #[zbus(signal)]
        async fn status_notifier_item_registered(emitter: &SignalEmitter<'_>, service: &str) -> zbus::Result<()>;
    }
}

/// Takes the place of the session's tray for as long as what it gives is kept.
pub async fn start() -> Result<Connection> {
    zbus::connection::Builder::session()?
        .serve_at("/StatusNotifierWatcher", watcher::Watcher::default())?
        .name("org.kde.StatusNotifierWatcher")?
        .build()
        .await
        .context("the session has a tray already, or no bus (this runs inside tests/desktop/session.sh)")
}
