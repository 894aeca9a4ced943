//! HTTP as bytes, for what no client library would send.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// An answer as it came.
#[derive(Debug)]
pub struct RawAnswer {
    /// Status; 0 when the connection was closed without one.
    pub status: u16,
    /// Everything, head and body.
    pub text: String,
}

/// Sends bytes and reads until the server closes or falls silent for a second.
pub async fn raw(url: &str, bytes: &[u8]) -> RawAnswer {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(bytes).await;
    let mut all = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let second = std::time::Duration::from_secs(1);
    while let Ok(Ok(n @ 1..)) = tokio::time::timeout(second, stream.read(&mut buffer)).await {
        all.extend_from_slice(&buffer[..n]);
    }
    let text = String::from_utf8_lossy(&all).into_owned();
    let status = text.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    RawAnswer { status, text }
}
