//! Sockets: listening, the limits of a connection, and letting go of it in good order.

use std::{
    net::{Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use crate::{
    connection::{Served, Watch, Watched},
    ingress::{self, Peer},
    shared::Shared,
};

/// Largest head that is read at all; from 64 KiB on it is refused with a reason, above this without one.
const HEAD_BYTES: usize = 256 * 1024;
/// Most headers that are read at all, likewise.
const HEADERS: usize = 256;
/// Connections at the same time.
const CONNECTIONS: usize = 16_384;

/// Opens the listening sockets: the address, and `[::1]` beside a loopback one.
pub fn listen(address: SocketAddr) -> std::io::Result<Vec<TcpListener>> {
    let first = bind(address)?;
    let port = first.local_addr()?.port();
    let mut all = vec![first];
    if address.ip().is_loopback() && address.is_ipv4() {
        // A machine without IPv6 does without.
        all.extend(bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).ok());
    }
    Ok(all)
}

fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    use socket2::{Domain, Protocol, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(1024)?;
    TcpListener::from_std(socket.into())
}

/// Accepts connections until the gateway stops.
pub async fn accept(shared: Arc<Shared>, listener: TcpListener, admin: Router, room: Arc<Semaphore>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shared.stopping.cancelled() => return,
        };
        match accepted {
            Ok((stream, remote)) => {
                // Over the bound the connection is closed at once: better than letting everyone wait.
                let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
                let Ok(local) = stream.local_addr() else { continue };
                let tasks = shared.tasks.clone();
                let (shared, admin) = (Arc::clone(&shared), admin.clone());
                tasks.spawn(async move {
                    connection(shared, admin, stream, Peer { remote, local }).await;
                    drop(permit);
                });
            }
            Err(why) => {
                // Out of file descriptors, most likely: others end, then there is room again.
                tracing::warn!(error = %why, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Room for connections.
pub fn room() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(CONNECTIONS))
}

async fn connection(shared: Arc<Shared>, admin: Router, stream: TcpStream, peer: Peer) {
    let _ = stream.set_nodelay(true);
    let watch = Arc::new(Watch::default());
    let io = TokioIo::new(Watched::new(stream, Arc::clone(&watch)));
    let service = service_fn(move |request| {
        let (serving, ambiguous) = watch.begin();
        let work = ingress::serve(Arc::clone(&shared), admin.clone(), peer, request, ambiguous);
        async move { Ok::<_, std::convert::Infallible>(work.await.map(|body| Served::new(body, serving))) }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().max_buf_size(HEAD_BYTES).max_headers(HEADERS).half_close(false).pipeline_flush(false);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_BYTES as u32)
        .max_concurrent_streams(256)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    if let Err(why) = builder.serve_connection(io, service).await {
        tracing::debug!(error = %why, "a connection ended early");
    }
}
