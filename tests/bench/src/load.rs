//! The load generator: one thread, one clock, as many connections as it takes.
//!
//! Open loop: requests start at fixed times whether or not earlier ones are answered, and their latency counts from
//! the time they should have started, so that a pause of the target is seen by every request that it delays. How late
//! this program itself was is counted apart. Closed loop: each connection asks again as soon as it is answered.

use std::{cell::RefCell, rc::Rc, time::Duration};

use anyhow::{Result, bail};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

use crate::{
    clock::{self, Ticker},
    http::{Reader, Target},
    stamp::Stamps,
};

/// Flags.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,
    /// Open loop: requests a second
    #[arg(long, required_unless_present = "connections", conflicts_with = "connections")]
    rate: Option<f64>,
    /// Closed loop: connections that ask without a pause
    #[arg(long)]
    connections: Option<usize>,
    /// Seconds that count
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Seconds before them that do not
    #[arg(long, default_value_t = 1.0)]
    warm_up: f64,
}

/// Start times are late beyond this: counted.
pub const LATE: u64 = 1_000_000;
/// A connection that nobody used for so long is not asked again: servers close such ones, Node's and uvicorn after five
/// seconds, and a request that meets that end would count as failed.
const IDLE: u64 = 4_000_000_000;
/// Requests in flight beyond this are errors: the target does not keep up at all.
const IN_FLIGHT: usize = 4096;

/// A distribution in microseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// Values.
    pub count: u64,
    /// Median.
    pub p50: f64,
    /// 90 %.
    pub p90: f64,
    /// 99 %.
    pub p99: f64,
    /// 99.9 %.
    pub p999: f64,
    /// Largest.
    pub max: f64,
}

/// What came out, as it is printed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// Requests answered completely with 200 within the time that counts.
    pub requests: u64,
    /// Requests sent at all, the warm-up included.
    pub sent: u64,
    /// Requests that failed.
    pub errors: u64,
    /// What the first failure was.
    pub first_error: Option<String>,
    /// Answers a second.
    pub rate: f64,
    /// Scheduled start to the end of the answer.
    pub latency: Distribution,
    /// Scheduled start to the first event.
    pub first_event: Distribution,
    /// Sending to receiving of every later event.
    pub event_delay: Distribution,
    /// How late requests started.
    pub late: Distribution,
    /// Share of the requests that started more than a millisecond late.
    pub late_share: f64,
}

struct Recorder {
    outcome: Outcome,
    latency: Histogram<u64>,
    first_event: Histogram<u64>,
    event_delay: Histogram<u64>,
    late: Histogram<u64>,
    started_late: u64,
}

struct Times {
    scheduled: u64,
    sent: u64,
    first: Option<u64>,
    delays: Vec<u64>,
    end: u64,
}

/// Sends the load and prints the outcome as one line of JSON.
pub async fn run(args: Args) -> Result<()> {
    let request: Rc<[u8]> = args.target.request().into();
    let recorder = Rc::new(RefCell::new(Recorder::new()?));
    let begin = clock::now() + 20_000_000;
    let counted = begin + nanoseconds(args.warm_up);
    let end = counted + nanoseconds(args.seconds);
    match (args.rate, args.connections) {
        (Some(rate), _) => open(&args.target, &request, &recorder, rate, [begin, counted, end]).await?,
        (None, Some(connections)) => closed(&args.target, &request, &recorder, connections, [counted, end]).await?,
        (None, None) => bail!("either --rate or --connections is needed"),
    }
    let outcome = recorder.borrow().outcome(args.seconds);
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}

fn nanoseconds(seconds: f64) -> u64 {
    u64::try_from(Duration::from_secs_f64(seconds).as_nanos()).unwrap_or(u64::MAX)
}

async fn open(
    target: &Target,
    request: &Rc<[u8]>,
    recorder: &Rc<RefCell<Recorder>>,
    rate: f64,
    [begin, counted, end]: [u64; 3],
) -> Result<()> {
    let interval = Duration::from_secs_f64(1.0 / rate);
    let step = u64::try_from(interval.as_nanos())?;
    let idle: Rc<RefCell<Vec<Connection>>> = Rc::default();
    let ticker = Ticker::new(begin, interval)?;
    let mut running = JoinSet::new();
    let mut scheduled = begin;
    while scheduled < end {
        for _ in 0..ticker.fired().await? {
            if scheduled >= end {
                break;
            }
            let (at, address) = (scheduled, target.address);
            scheduled += step;
            while running.try_join_next().is_some() {}
            if running.len() >= IN_FLIGHT {
                recorder.borrow_mut().failed("too many requests in flight");
                continue;
            }
            let (request, recorder, idle) = (Rc::clone(request), Rc::clone(recorder), Rc::clone(&idle));
            running.spawn_local(async move {
                let free = newest(&mut idle.borrow_mut(), clock::now());
                let asked = async {
                    let mut connection = match free {
                        Some(connection) => connection,
                        None => Connection::open(address).await?,
                    };
                    let times = connection.ask(&request, Some(at)).await?;
                    idle.borrow_mut().push(connection);
                    Ok(times)
                };
                let asked = asked.await;
                recorder.borrow_mut().record(&asked, at >= counted);
            });
        }
    }
    let rest = async { while running.join_next().await.is_some() {} };
    if tokio::time::timeout(Duration::from_secs(30), rest).await.is_err() {
        recorder.borrow_mut().failed("no answer within 30 s");
    }
    Ok(())
}

async fn closed(
    target: &Target,
    request: &Rc<[u8]>,
    recorder: &Rc<RefCell<Recorder>>,
    connections: usize,
    [counted, end]: [u64; 2],
) -> Result<()> {
    let mut running = JoinSet::new();
    for _ in 0..connections {
        let (request, recorder, address) = (Rc::clone(request), Rc::clone(recorder), target.address);
        running.spawn_local(async move {
            let mut connection = None;
            while clock::now() < end {
                let open = match connection.take() {
                    Some(open) => Ok(open),
                    None => Connection::open(address).await,
                };
                let asked = match open {
                    Ok(mut open) => {
                        let asked = open.ask(&request, None).await;
                        connection = asked.is_ok().then_some(open);
                        asked
                    }
                    Err(why) => Err(why),
                };
                if asked.is_err() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                let counts = clock::now() >= counted && clock::now() < end;
                recorder.borrow_mut().record(&asked, counts);
            }
        });
    }
    while running.join_next().await.is_some() {}
    Ok(())
}

/// The connection that was used last; none, and no other either, if that is too long ago.
fn newest(idle: &mut Vec<Connection>, now: u64) -> Option<Connection> {
    let newest = idle.pop().filter(|connection| now.saturating_sub(connection.used) < IDLE);
    if newest.is_none() {
        idle.clear();
    }
    newest
}

/// A connection that is kept.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// When its last answer ended.
    used: u64,
}

impl Connection {
    async fn open(address: std::net::SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 16 * 1024], used: clock::now() })
    }

    /// One request and its whole answer.
    async fn ask(&mut self, request: &[u8], scheduled: Option<u64>) -> Result<Times> {
        let sent = clock::now();
        let mut times = Times { scheduled: scheduled.unwrap_or(sent), sent, first: None, delays: Vec::new(), end: 0 };
        self.stream.write_all(request).await?;
        let (mut reader, mut stamps) = (Reader::default(), Stamps::default());
        while !reader.is_done() {
            let length = self.stream.read(&mut self.buffer).await?;
            let now = clock::now();
            if length == 0 {
                bail!("the connection was closed before the answer's end");
            }
            reader.push(self.buffer.get(..length).unwrap_or_default(), |body| {
                stamps.push(body, |stamp| match times.first {
                    None => times.first = Some(now),
                    Some(_) => times.delays.push(now.saturating_sub(stamp)),
                });
            })?;
            times.end = now;
        }
        if reader.status() != 200 {
            bail!("status {}", reader.status());
        }
        self.used = times.end;
        Ok(times)
    }
}

impl Recorder {
    fn new() -> Result<Self> {
        let empty = || Histogram::new_with_bounds(1, 120_000_000_000, 3);
        Ok(Self {
            outcome: Outcome::default(),
            latency: empty()?,
            first_event: empty()?,
            event_delay: empty()?,
            late: empty()?,
            started_late: 0,
        })
    }

    fn failed(&mut self, why: &str) {
        self.outcome.errors += 1;
        self.outcome.first_error.get_or_insert_with(|| why.to_owned());
    }

    fn record(&mut self, asked: &Result<Times>, counts: bool) {
        self.outcome.sent += 1;
        let times = match asked {
            Ok(times) => times,
            Err(why) => return self.failed(&format!("{why:#}")),
        };
        if !counts {
            return;
        }
        self.outcome.requests += 1;
        self.latency.saturating_record(times.end.saturating_sub(times.scheduled));
        let late = times.sent.saturating_sub(times.scheduled);
        self.late.saturating_record(late);
        self.started_late += u64::from(late > LATE);
        if let Some(first) = times.first {
            self.first_event.saturating_record(first.saturating_sub(times.scheduled));
        }
        for delay in &times.delays {
            self.event_delay.saturating_record(*delay);
        }
    }

    fn outcome(&self, seconds: f64) -> Outcome {
        let requests = self.outcome.requests;
        Outcome {
            rate: requests as f64 / seconds,
            latency: distribution(&self.latency),
            first_event: distribution(&self.first_event),
            event_delay: distribution(&self.event_delay),
            late: distribution(&self.late),
            late_share: self.started_late as f64 / requests.max(1) as f64,
            ..self.outcome.clone()
        }
    }
}

fn distribution(histogram: &Histogram<u64>) -> Distribution {
    let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1000.0;
    Distribution {
        count: histogram.len(),
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: histogram.max() as f64 / 1000.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(scheduled: u64, sent: u64, end: u64) -> Result<Times> {
        Ok(Times { scheduled, sent, first: Some(end), delays: vec![7_000], end })
    }

    #[test]
    fn latency_counts_from_the_scheduled_start_and_lateness_is_told_apart() {
        let mut recorder = Recorder::new().unwrap();
        recorder.record(&times(0, 2_000_000, 3_000_000), true);
        recorder.record(&times(0, 1_000, 1_000_000), true);
        recorder.record(&times(0, 0, 900_000_000), false);
        let outcome = recorder.outcome(2.0);
        assert_eq!((outcome.requests, outcome.sent, outcome.errors), (2, 3, 0));
        assert!((outcome.latency.max - 3000.0).abs() < 5.0, "{:?}", outcome.latency);
        assert!((outcome.late.max - 2000.0).abs() < 5.0, "{:?}", outcome.late);
        assert!((outcome.late_share - 0.5).abs() < 1e-9);
        assert!((outcome.rate - 1.0).abs() < 1e-9);
        assert!((outcome.event_delay.p50 - 7.0).abs() < 0.1);
    }

    #[tokio::test]
    async fn connections_that_idled_too_long_are_not_used_again() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut idle = Vec::new();
        for used in [1, 2 * IDLE] {
            let connection = Connection::open(listener.local_addr().unwrap()).await.unwrap();
            idle.push(Connection { used, ..connection });
        }
        assert_eq!(newest(&mut idle, 2 * IDLE).unwrap().used, 2 * IDLE);
        assert!(newest(&mut idle, 2 * IDLE).is_none() && idle.is_empty());
    }

    #[test]
    fn the_first_failure_is_named() {
        let mut recorder = Recorder::new().unwrap();
        recorder.record(&Err(anyhow::anyhow!("status 502")), true);
        recorder.failed("too many requests in flight");
        let outcome = recorder.outcome(1.0);
        assert_eq!((outcome.errors, outcome.requests), (2, 0));
        assert_eq!(outcome.first_error.as_deref(), Some("status 502"));
    }
}
