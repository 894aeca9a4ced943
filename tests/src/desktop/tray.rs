//! A tray without a panel: watcher and host of the StatusNotifier protocol in one, on the session's bus. It sees what a
//! panel would draw and presses what a person would.

use std::{collections::HashMap, path::PathBuf, sync::Arc, time::Instant};

use anyhow::{Context as _, Result, bail, ensure};
use zbus::{
    Connection, Proxy,
    zvariant::{OwnedValue, Value},
};

use self::watcher::{Items, Watcher};
use super::PATIENCE;

const NAME: &str = "org.kde.StatusNotifierWatcher";

/// Apart, because what the macro makes of it is public.
mod watcher {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use zbus::{message::Header, object_server::SignalEmitter};

    /// Whoever registered: its name on the bus and the path of its item.
    pub(super) type Items = Arc<Mutex<Vec<(String, String)>>>;

    pub(super) struct Watcher(pub(super) Items);

    #[zbus::interface(name = "org.kde.StatusNotifierWatcher")]
    impl Watcher {
        /// An indicator names its path; who it is stands in the message.
        async fn register_status_notifier_item(
            &self,
            service: &str,
            #[zbus(header)] header: Header<'_>,
            #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
        ) -> zbus::fdo::Result<()> {
            let sender = header.sender().map(ToString::to_string).unwrap_or_default();
            let path = if service.starts_with('/') { service } else { "/StatusNotifierItem" };
            self.0.lock().push((sender, path.to_owned()));
            Self::status_notifier_item_registered(&emitter, service).await?;
            Ok(())
        }

        fn register_status_notifier_host(&self, _service: &str) {}

        #[zbus(property)]
        fn registered_status_notifier_items(&self) -> Vec<String> {
            self.0.lock().iter().map(|(sender, path)| format!("{sender}{path}")).collect()
        }

        #[zbus(property)]
        fn is_status_notifier_host_registered(&self) -> bool {
            true
        }

        #[zbus(property)]
        fn protocol_version(&self) -> i32 {
            0
        }

        /// An icon was put in.
        #[zbus(signal)]
        async fn status_notifier_item_registered(emitter: &SignalEmitter<'_>, service: &str) -> zbus::Result<()>;
    }
}

/// The tray of the session.
pub struct Tray {
    bus: Connection,
    items: Items,
}

/// An item of a menu, its properties, what stands in it.
type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

/// A line of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    id: i32,
    /// What it says.
    pub label: String,
    /// It can be pressed.
    pub enabled: bool,
}

impl Tray {
    /// Takes the place of the session's tray; it has to be free.
    pub async fn start() -> Result<Self> {
        let items = Items::default();
        let bus = zbus::connection::Builder::session()?
            .serve_at("/StatusNotifierWatcher", Watcher(Arc::clone(&items)))?
            .name(NAME)?
            .build()
            .await
            .context("the session has a tray already, or no bus")?;
        Ok(Self { bus, items })
    }

    async fn proxy(&self, path: &str, interface: &'static str) -> Result<Proxy<'static>> {
        let newest = self.items.lock().last().cloned();
        let (sender, item) = newest.context("nobody has put an icon into the tray")?;
        let path = if path.is_empty() { item } else { path.to_owned() };
        let builder = zbus::proxy::Builder::new(&self.bus).destination(sender)?.path(path)?.interface(interface)?;
        Ok(builder.cache_properties(zbus::proxy::CacheProperties::No).build().await?)
    }

    /// The picture that is shown, as pixels.
    pub async fn icon(&self) -> Result<Vec<u8>> {
        let item = self.proxy("", "org.kde.StatusNotifierItem").await?;
        let (folder, name): (String, String) =
            (item.get_property("IconThemePath").await?, item.get_property("IconName").await?);
        let mut file = PathBuf::from(folder).join(name);
        if !file.exists() {
            file.as_mut_os_string().push(".png");
        }
        pixels(&std::fs::read(&file).with_context(|| format!("there is no icon {}", file.display()))?)
    }

    /// What the menu says, without what stands in menus inside it.
    pub async fn menu(&self) -> Result<Vec<Line>> {
        let item = self.proxy("", "org.kde.StatusNotifierItem").await?;
        let path: zbus::zvariant::OwnedObjectPath = item.get_property("Menu").await?;
        let menu = self.proxy(path.as_str(), "com.canonical.dbusmenu").await?;
        let (_, (_, _, children)): (u32, Layout) =
            menu.call("GetLayout", &(0, 1, ["label", "enabled"].as_slice())).await?;
        Ok(children.iter().filter_map(|child| line(child)).collect())
    }

    /// Presses the line that says this.
    pub async fn press(&self, label: &str) -> Result<()> {
        let lines = self.menu().await?;
        let found = lines.iter().find(|line| line.label == label);
        let line = found.with_context(|| format!("the menu has no '{label}': {lines:?}"))?;
        ensure!(line.enabled, "'{label}' cannot be pressed");
        let item = self.proxy("", "org.kde.StatusNotifierItem").await?;
        let path: zbus::zvariant::OwnedObjectPath = item.get_property("Menu").await?;
        let menu = self.proxy(path.as_str(), "com.canonical.dbusmenu").await?;
        menu.call::<_, _, ()>("Event", &(line.id, "clicked", Value::I32(0), 0_u32)).await?;
        Ok(())
    }

    /// Waits until the menu has a line with these words and the icon is the one of this file.
    pub async fn shows(&self, words: &str, drawing: &[u8]) -> Result<()> {
        let wanted = pixels(drawing)?;
        let begun = Instant::now();
        loop {
            let (icon, menu) = (self.icon().await, self.menu().await);
            let says = menu.as_ref().is_ok_and(|lines| lines.iter().any(|line| line.label.contains(words)));
            if says && icon.as_ref().is_ok_and(|icon| *icon == wanted) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                bail!("the tray does not show '{words}' with its icon: {menu:?}, icon {:?}", icon.map(|i| i == wanted));
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }
}

/// A line of a layout, `(ia{sv}av)`; a rule has no label.
fn line(value: &Value<'_>) -> Option<Line> {
    let Value::Structure(layout) = value else { return None };
    let [Value::I32(id), Value::Dict(properties), _] = layout.fields() else { return None };
    let label = properties.get::<&str, &str>(&"label").ok()??;
    let enabled = properties.get::<&str, bool>(&"enabled").ok().flatten().unwrap_or(true);
    // An underline marks the letter that chooses it.
    Some(Line { id: *id, label: label.replace('_', ""), enabled })
}

fn pixels(png: &[u8]) -> Result<Vec<u8>> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().context("an icon of no size")?];
    reader.next_frame(&mut pixels)?;
    Ok(pixels)
}
