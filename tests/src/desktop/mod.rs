//! The real window, driven through WebKitWebDriver: starting it, waiting for what it shows, pictures of it.

#[cfg(target_os = "linux")]
pub mod tray;

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};
use tokio::process::{Child, Command};

/// The longest anything may take to appear.
const PATIENCE: Duration = Duration::from_secs(20);

/// How the application is started.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The program.
    pub app: PathBuf,
    /// Its data directory.
    pub data_dir: PathBuf,
    /// The port it listens on.
    pub port: u16,
    /// Further variables.
    pub environment: Vec<(String, String)>,
}

/// A window that is open.
pub struct Window {
    client: Client,
    driver: Child,
    data_dir: PathBuf,
}

impl Setup {
    /// Opens the window; its own driver comes and goes with it.
    pub async fn open(&self) -> Result<Window> {
        let port = free_port()?;
        let mut driver = Command::new("WebKitWebDriver")
            .args(["--host=127.0.0.1", &format!("--port={port}")])
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .env("HEADGATE_DATA_DIR", &self.data_dir)
            .env("HEADGATE_LISTEN", format!("127.0.0.1:{}", self.port))
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(std::io::stderr())
            .kill_on_drop(true)
            .spawn()
            .context("WebKitWebDriver could not be started")?;
        let url = format!("http://127.0.0.1:{port}");
        let mut capabilities = Map::new();
        capabilities.insert("webkitgtk:browserOptions".to_owned(), json!({"binary": self.app, "args": []}));
        let begun = Instant::now();
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            if begun.elapsed() > PATIENCE {
                bail!("WebKitWebDriver does not listen");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities);
        // An application that dies at its start shows only as a session that never begins.
        let client = tokio::time::timeout(PATIENCE, builder.connect(&url)).await;
        match client {
            Ok(Ok(client)) => Ok(Window { client, driver, data_dir: self.data_dir.clone() }),
            failed => {
                let _ = driver.kill().await;
                bail!("no session with {}: {:?}", self.app.display(), failed.map(|r| r.err()))
            }
        }
    }
}

impl Window {
    /// Waits until a CSS selector finds something visible; gives it.
    pub async fn see(&self, css: &str) -> Result<fantoccini::elements::Element> {
        let begun = Instant::now();
        loop {
            if let Ok(element) = self.client.find(Locator::Css(css)).await
                && element.is_displayed().await.unwrap_or(false)
            {
                return Ok(element);
            }
            if begun.elapsed() > PATIENCE {
                bail!("'{css}' does not appear; the page says: {}", self.text().await?);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until the page's text contains this.
    pub async fn read(&self, words: &str) -> Result<()> {
        let begun = Instant::now();
        loop {
            let text = self.text().await?;
            if text.contains(words) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                bail!("'{words}' does not appear; the page says: {text}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Clicks what a selector finds.
    pub async fn click(&self, css: &str) -> Result<()> {
        self.see(css).await?.click().await.with_context(|| format!("'{css}' cannot be clicked"))
    }

    /// Clicks the button, link or tab whose whole text is this.
    pub async fn press(&self, words: &str) -> Result<()> {
        let begun = Instant::now();
        let path =
            format!("//*[self::button or self::a or @role='tab'][normalize-space(.)='{words}' and not(@disabled)]");
        loop {
            for element in self.client.find_all(Locator::XPath(&path)).await? {
                if element.is_displayed().await.unwrap_or(false) && element.click().await.is_ok() {
                    return Ok(());
                }
            }
            if begun.elapsed() > PATIENCE {
                bail!("there is no '{words}' to press; the page says: {}", self.text().await?);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Types into the field a selector finds.
    pub async fn write(&self, css: &str, text: &str) -> Result<()> {
        let field = self.see(css).await?;
        field.clear().await?;
        field.send_keys(text).await.with_context(|| format!("'{css}' cannot be written into"))
    }

    /// Everything a person can read on the page.
    pub async fn text(&self) -> Result<String> {
        let text = self.client.execute("return document.body.innerText", Vec::new()).await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Runs a script in the page.
    pub async fn script(&self, script: &str) -> Result<Value> {
        Ok(self.client.execute(script, Vec::new()).await?)
    }

    /// The page's address.
    pub async fn address(&self) -> Result<String> {
        Ok(self.client.current_url().await?.to_string())
    }

    /// A picture of the page, once it has been painted.
    pub async fn picture(&self, path: &Path) -> Result<()> {
        let painted = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))";
        self.client.execute_async(painted, Vec::new()).await?;
        std::fs::write(path, self.client.screenshot().await?)?;
        Ok(())
    }

    /// The process of the application, while its gateway runs.
    pub fn pid(&self) -> Option<i32> {
        let instance = std::fs::read(self.data_dir.join("instance.json")).unwrap_or_default();
        let instance: Value = serde_json::from_slice(&instance).unwrap_or_default();
        instance["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok())
    }

    /// Closes the window and waits until the application has ended: without a tray that is the same.
    pub async fn close(self) -> Result<()> {
        self.end(async |client| Ok(client.close().await?)).await
    }

    /// Does what ends the application, and waits until it has ended.
    pub async fn end(mut self, how: impl AsyncFnOnce(Client) -> Result<()>) -> Result<()> {
        let pid = self.pid();
        how(self.client).await?;
        let begun = Instant::now();
        if let Some(pid) = pid {
            while crate::harness::is_alive(pid) {
                if begun.elapsed() > PATIENCE {
                    bail!("the application does not end after its window has");
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        self.driver.kill().await?;
        Ok(())
    }
}

/// A port nobody listens on.
pub fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
