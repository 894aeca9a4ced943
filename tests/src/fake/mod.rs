//! A fake upstream: speaks Chat Completions, Responses and Messages, streaming and not, and misbehaves by a script.
//!
//! It works on raw sockets, so that it can break off anywhere, and remembers what it was asked byte for byte.

pub mod answer;
mod connection;
pub mod relay;
pub mod script;

use std::{net::SocketAddr, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    net::TcpListener,
    sync::watch,
    task::{JoinHandle, JoinSet},
};

pub use self::script::{Behaviour, Point, Rule};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    /// `POST`.
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Without the question mark.
    pub query: Option<String>,
    /// In order, names as they were written.
    pub headers: Vec<(String, String)>,
    /// As it was sent.
    pub body: Vec<u8>,
    /// Turns true when the caller closes its connection while it is being answered.
    pub left: watch::Receiver<bool>,
}

impl Seen {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Waits until the caller has left.
    pub async fn caller_left(&mut self) {
        let _ = self.left.wait_for(|left| *left).await;
    }
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) rules: Vec<Rule>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) models: Vec<String>,
}

/// A running fake upstream.
pub struct Fake {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: Mutex<JoinHandle<()>>,
}

/// Accepts connections until it is aborted, which closes all of them.
async fn accept(listener: TcpListener, state: Arc<Mutex<State>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection::serve(stream, Arc::clone(&state)));
        while connections.try_join_next().is_some() {}
    }
}

impl Fake {
    /// Starts one on a free port of loopback.
    pub async fn start() -> Self {
        Self::on("127.0.0.1:0".parse().unwrap()).await
    }

    /// Starts one on this address.
    pub async fn on(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.expect("the fake upstream's address is free");
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { models: vec!["mock-model".to_owned()], ..State::default() }));
        let task = Mutex::new(tokio::spawn(accept(listener, Arc::clone(&state))));
        Self { address, state, task }
    }

    /// Closes everything: whoever calls is refused.
    pub async fn close(&self) {
        let task = std::mem::replace(&mut *self.task.lock(), tokio::spawn(async {}));
        task.abort();
        let _ = task.await;
    }

    /// Listens again after [`Self::close`].
    pub async fn open(&self) {
        let listener = TcpListener::bind(self.address).await.expect("the fake upstream's address is still free");
        *self.task.lock() = tokio::spawn(accept(listener, Arc::clone(&self.state)));
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Replaces the script.
    pub fn script(&self, rules: impl IntoIterator<Item = Rule>) {
        self.state.lock().rules = rules.into_iter().collect();
    }

    /// From now on everything is answered like this.
    pub fn always(&self, behaviour: Behaviour) {
        self.script([Rule::always(behaviour)]);
    }

    /// Answers normally again.
    pub fn behave(&self) {
        self.script([]);
    }

    /// The models it lists.
    pub fn models(&self, models: &[&str]) {
        self.state.lock().models = models.iter().map(|m| (*m).to_owned()).collect();
    }

    /// What it was asked since it began (or since [`Self::forget`]).
    pub fn seen(&self) -> Vec<Seen> {
        self.state.lock().seen.clone()
    }

    /// Forgets what it was asked.
    pub fn forget(&self) {
        self.state.lock().seen.clear();
    }

    /// The last request for an answer of a model.
    pub fn last(&self) -> Seen {
        self.seen().pop().expect("the fake upstream was asked")
    }

    /// Waits until it has been asked this often.
    pub async fn asked(&self, times: usize) {
        crate::harness::until("the fake upstream to be asked", || async { self.state.lock().seen.len() >= times })
            .await;
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.lock().abort();
    }
}
