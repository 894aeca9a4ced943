//! A proxy of the same library and runtime as Headgate and nothing else: no key, no choice, no record. What it adds is
//! the floor for everything that is built so.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, StatusCode, Uri,
    body::Incoming,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    http::uri::Authority,
    service::service_fn,
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo},
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use crate::mock::input_closed;

/// Flags.
#[derive(clap::Args)]
pub struct Args {
    /// Address of the upstream
    #[arg(long)]
    to: SocketAddr,
    /// Worker threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// End when standard input is closed
    #[arg(long)]
    until_stdin_closes: bool,
}

type Http = Client<HttpConnector, Full<Bytes>>;
type Answer = http_body_util::Either<Incoming, Full<Bytes>>;

/// Serves until standard input is closed, or for ever.
pub fn run(args: &Args) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(args.threads).enable_all().build()?;
    let to: Arc<Authority> = Arc::new(args.to.to_string().parse().context("the upstream's address")?);
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("ready on {}", listener.local_addr()?);
        tokio::select! {
            served = serve(listener, to) => served,
            () = input_closed(), if args.until_stdin_closes => Ok(()),
        }
    })
}

async fn serve(listener: TcpListener, to: Arc<Authority>) -> Result<()> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Http = Client::builder(TokioExecutor::new()).build(connector);
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        connections.spawn(connection(stream, client.clone(), Arc::clone(&to)));
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(stream: TcpStream, client: Http, to: Arc<Authority>) {
    let service = service_fn(move |request| pass(client.clone(), Arc::clone(&to), request));
    // A client that leaves ends its connection with an error: nothing to tell.
    drop(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
}

async fn pass(client: Http, to: Arc<Authority>, request: Request<Incoming>) -> Result<Response<Answer>, Infallible> {
    Ok(asked(&client, &to, request).await.unwrap_or_else(|why| {
        let mut response = Response::new(Answer::Right(Full::from(why.to_string())));
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    }))
}

async fn asked(client: &Http, to: &Authority, request: Request<Incoming>) -> Result<Response<Answer>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let uri = Uri::builder().scheme("http").authority(to.as_str()).path_and_query(path).build()?;
    let mut onward = Request::new(Full::from(body));
    *onward.method_mut() = head.method;
    *onward.uri_mut() = uri;
    for name in [CONTENT_TYPE, CONTENT_LENGTH] {
        if let Some(value) = head.headers.get(&name) {
            onward.headers_mut().insert(name, value.clone());
        }
    }
    Ok(client.request(onward).await?.map(Answer::Left))
}
