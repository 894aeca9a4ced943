//! One client request from its head to its last byte: what the record says of it, and the certainty that there is one.
//!
//! An [`Exchange`] that is dropped without having been finished was canceled: the client went away. The attempt under
//! way is then released without a trace in anybody's health.

use std::{
    borrow::Cow,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use chrono::{DateTime, Utc};
use headgate_domain::{
    AttemptRecord, BudgetOwner, Class, ErrorSource, Failure, Outcome, RequestCost, RequestRecord, Settings,
    audit::{BreakerState, Record, UsageColumns, clip},
    upstream::Limits,
};
use headgate_pricing::budget::Amounts;
use headgate_routing::{Candidate, Completion, Effect, Exceeded, Grant, Lease, Time, Tokens, Tried, meaning};

use crate::{
    budgets::{Spent, UnderWay},
    clock::millis,
    events::Event,
    forward::watch::Watch,
    shared::{Counters, Shared},
    snapshot::Key,
    traces::{Parent, Step},
};

/// An attempt that is under way.
pub struct Attempt {
    lease: Lease,
    candidate: Candidate,
    record: AttemptRecord,
    started: Time,
    /// Whether anything of the request went out.
    pub sent: bool,
    /// First output, from the start of the attempt.
    pub ttft: Option<Duration>,
    /// A stream passed the unadapted first-response limit.
    pub tripped: bool,
}

impl Attempt {
    /// The first output may have come only after the commit boundary.
    pub fn note_output(&mut self, now: Time) {
        self.ttft.get_or_insert(now.since(self.started));
    }
}

/// What the upstream's answer turned out to be, for the record.
#[derive(Default)]
pub struct Answer<'a> {
    /// HTTP status.
    pub status: Option<u16>,
    /// What was observed in the body.
    pub watch: Option<&'a Watch>,
    /// Bytes of body received.
    pub bytes: u64,
    /// The answer was an event stream.
    pub stream: bool,
    /// The upstream's own request id.
    pub request_id: Option<String>,
    /// The rate limit concerns the model alone.
    pub model_scoped: bool,
}

/// A client request.
pub struct Exchange {
    shared: Arc<Shared>,
    /// The record so far; nothing of it is left when the request has ended.
    pub record: Box<RequestRecord>,
    attempts: Vec<AttemptRecord>,
    /// When the head had arrived.
    pub started: Time,
    /// The attempt under way.
    pub current: Option<Attempt>,
    /// What has been tried.
    pub tried: Tried,
    /// The session, hashed.
    pub session: Option<u64>,
    /// What of its key's limits it takes up while it lasts.
    grant: Option<Grant>,
    /// The budgets that its cost may still go to.
    under_way: Option<UnderWay>,
    /// Rows that count nowhere (`count_tokens`).
    pub silent: bool,
    /// What was done before the first attempt; noted where traces are wanted.
    steps: Vec<Step>,
    /// The client's own trace.
    pub parent: Option<Parent>,
    finished: bool,
}

impl Exchange {
    /// A request whose head has just arrived.
    pub fn begin(shared: &Arc<Shared>, record: RequestRecord, started: Time) -> Self {
        shared.counters.in_flight.fetch_add(1, Ordering::Relaxed);
        Self {
            shared: Arc::clone(shared),
            record: Box::new(record),
            attempts: Vec::new(),
            started,
            current: None,
            tried: Tried::new(),
            session: None,
            grant: None,
            under_way: None,
            silent: false,
            steps: Vec::new(),
            parent: None,
            finished: false,
        }
    }

    /// The shared state.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Number of attempts, the one under way included.
    pub fn attempt_count(&self) -> usize {
        self.attempts.len() + usize::from(self.current.is_some())
    }

    /// Notes a step that began then and ends now, if traces are wanted.
    pub fn step(&mut self, name: &'static str, begin: Time) {
        if self.shared.traces.are_on() {
            self.steps.push(Step::new(name, self.started, begin, self.shared.now()));
        }
    }

    /// Counts it against the limits of its key, until it ends.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn claim_allowance(&mut self, key: &Key, estimated_input: u64) -> Result<(), Exceeded> {
        if key.spec.limits != Limits::default() {
            let now = self.shared.now();
            let grant = self.shared.routing.lock().allowances.admit(key.id, &key.spec.limits, estimated_input, now)?;
            self.grant = Some(grant);
        }
        Ok(())
    }

    /// Counts it as under way for the budgets of its key and group, until it ends.
    ///
    /// # Errors
    /// The budget that is spent.
    pub fn claim_budget(&mut self, key: &Key, settings: &Settings) -> Result<(), Spent> {
        self.under_way = self.shared.budgets.claim(key, self.shared.clock.wall(), settings)?;
        Ok(())
    }

    /// Begins an attempt.
    pub fn attempt(&mut self, lease: Lease, candidate: Candidate, mut record: AttemptRecord) {
        let now = self.shared.now();
        if self.record.overhead_us.is_none() {
            self.record.overhead_us = i64::try_from(now.since(self.started).as_micros()).ok();
        }
        Counters::add(&self.shared.counters.attempts);
        record.number = i32::try_from(self.attempts.len() + 1).unwrap_or(i32::MAX);
        record.attempted_at = self.shared.clock.wall();
        self.current =
            Some(Attempt { lease, candidate, record, started: now, sent: false, ttft: None, tripped: false });
    }

    /// The attempt's stream has begun to answer, and that is known before its end.
    pub fn begun(&mut self) {
        if let Some(attempt) = self.current.as_mut().filter(|a| a.ttft.is_some()) {
            self.shared.routing.lock().health.answered(&mut attempt.lease);
        }
    }

    /// Ends the attempt under way. Gives whether another candidate may be tried (as far as the class goes).
    pub fn end_attempt(&mut self, answer: &Answer<'_>, failure: Option<&Failure>, outcome: Outcome) -> bool {
        let Some(attempt) = self.current.take() else { return false };
        let class = failure.map_or(Class::Ok, |f| f.class);
        let Attempt { lease, candidate, mut record, started, sent, ttft, tripped } = attempt;
        let usage = answer.watch.map(Watch::usage).unwrap_or_default();
        let completion = Completion {
            class,
            // Both figures come from streaming attempts only.
            ttft: ttft.filter(|_| answer.stream),
            retry_after: failure.and_then(|f| f.retry_after),
            model_scoped: answer.model_scoped,
            output_tokens: usage.output,
            tokens: Tokens::of(&usage),
            tripped,
        };
        let Effect { breaker_after, needs_attention, .. } = self.shared.complete(lease, &completion);
        if needs_attention {
            tracing::warn!(
                upstream.name = %record.upstream_name,
                attempt.class = class.as_str(),
                "a credential needs attention"
            );
        }
        if let Some(group) = self.record.group_id {
            let upstream = record.upstream_id;
            if class == Class::Ok && outcome == Outcome::Success {
                self.shared.settle_affinity(group, self.session, upstream, true);
            } else if meaning(class).hurts() {
                self.shared.settle_affinity(group, self.session, upstream, false);
            }
        }
        record.completed_at = self.shared.clock.wall();
        record.duration_ms = millis(self.shared.now().since(started));
        record.health_after = breaker_after;
        record.status = answer.status.map(i32::from);
        record.outcome = outcome;
        record.ttft_ms = ttft.map(millis);
        record.response_bytes = i64::try_from(answer.bytes).unwrap_or(i64::MAX);
        record.stream = answer.stream;
        record.stream_completed = answer.watch.is_some_and(Watch::completed);
        record.last_event = answer.watch.and_then(Watch::last_event).map(|e| clip(e, 80));
        record.upstream_request_id.clone_from(&answer.request_id);
        record.usage = UsageColumns::from(&usage);
        if let Some(watch) = answer.watch {
            record.usage.observe(self.record.estimated_input, watch.text());
            record.warnings.extend(watch.warnings());
        }
        if let Some(failure) = failure {
            record.error_kind = Some(failure.kind());
            record.error_source = Some(source(failure.class));
            record.error_text = Some(clip(&failure.message, 500));
        }
        record.cost = self.shared.prices.stamp(&record);
        if !self.silent {
            let amounts = Amounts::of(&record.cost, record.may_be_charged());
            let owners = [self.record.key_id.map(BudgetOwner::Key), self.record.group_id.map(BudgetOwner::Group)];
            let snapshot = self.shared.snapshot.load();
            self.shared.budgets.count(owners.into_iter().flatten(), &amounts, record.completed_at, &snapshot.settings);
        }
        self.attempts.push(record);
        self.tried.after(candidate, class, sent)
    }

    /// Ends the request with the answer of its last attempt, which is ended with it if it has not been.
    pub fn finish(&mut self, status: u16, outcome: Outcome, failure: Option<&Failure>, response_bytes: u64) {
        let error = failure.map(|f| (Cow::Owned(f.kind()), source(f.class), f.message.as_ref()));
        self.close(status, outcome, error, response_bytes);
    }

    /// Ends the request with a refusal of the gateway's own.
    pub fn refuse(
        &mut self,
        status: u16,
        outcome: Outcome,
        code: &'static str,
        source: ErrorSource,
        text: &str,
        bytes: u64,
    ) {
        self.close(status, outcome, Some((Cow::Borrowed(code), source, text)), bytes);
    }

    fn close(
        &mut self,
        status: u16,
        outcome: Outcome,
        error: Option<(Cow<'static, str>, ErrorSource, &str)>,
        response_bytes: u64,
    ) {
        if std::mem::replace(&mut self.finished, true) {
            return;
        }
        let now = self.shared.now();
        let record = &mut self.record;
        record.completed_at = self.shared.clock.wall();
        record.duration_ms = millis(now.since(self.started));
        record.status = i32::from(status);
        record.outcome = outcome;
        record.response_bytes = i64::try_from(response_bytes).unwrap_or(i64::MAX);
        record.attempt_count = i32::try_from(self.attempts.len()).unwrap_or(i32::MAX);
        if let Some((kind, source, text)) = error {
            record.error_kind = Some(kind.into_owned());
            record.error_source = Some(source);
            record.error_text = Some(clip(text, 500));
        }
        if let Some(last) = self.attempts.last() {
            record.ttft_ms = last.ttft_ms.map(|ttft| {
                ttft.saturating_add(millis((last.attempted_at - record.started_at).to_std().unwrap_or_default()))
            });
            record.upstream_id = Some(last.upstream_id);
            record.upstream_name = Some(last.upstream_name.clone());
            record.stream_completed = last.stream_completed;
            record.last_event.clone_from(&last.last_event);
            record.upstream_request_id.clone_from(&last.upstream_request_id);
            record.usage = last.usage;
        }
        record.cost = RequestCost::of(self.attempts.iter().map(|a| (&a.cost, a.may_be_charged())));
        if self.shared.events.is_watched() && !self.silent {
            self.shared.events.send(Event::RequestFinished {
                id: record.id,
                outcome,
                status: record.status,
                upstream: record.upstream_name.clone(),
                attempts: record.attempt_count,
                duration_ms: record.duration_ms,
            });
        }
        if let Some(grant) = self.grant.take() {
            let produced = record.usage.tokens_output.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
            self.shared.routing.lock().allowances.finish(grant, produced, now);
        }
        if let Some(under_way) = self.under_way.take() {
            self.shared.budgets.end(&under_way);
        }
        Counters::add(&self.shared.counters.finished);
        let attempts = std::mem::take(&mut self.attempts);
        if !self.silent {
            self.shared.metrics.count(record, &attempts);
            self.shared.traces.put(record, &attempts, &self.steps, self.parent);
        }
        self.shared.journal.append(Record { request: std::mem::take(record), attempts });
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.finished {
            let gone = Failure::new(Class::ClientGone, "the client closed the connection");
            self.end_attempt(&Answer::default(), Some(&gone), Outcome::Canceled);
            self.finish(499, Outcome::Canceled, Some(&gone), 0);
        }
        self.shared.counters.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whose fault a class is.
pub fn source(class: Class) -> ErrorSource {
    match class {
        Class::ClientGone | Class::ClientFault | Class::ContentPolicy | Class::Deadline => ErrorSource::Client,
        Class::Gateway | Class::Untranslatable => ErrorSource::Gateway,
        _ => ErrorSource::Upstream,
    }
}

/// The outcome of a request whose last failure is of this class.
pub fn outcome_of(class: Class) -> Outcome {
    match class {
        Class::Ok => Outcome::Success,
        Class::ClientGone => Outcome::Canceled,
        Class::ClientFault | Class::ContentPolicy => Outcome::ClientError,
        Class::Untranslatable => Outcome::Unsupported,
        _ => Outcome::Failed,
    }
}

/// An attempt's record before anything is known of its end.
pub fn draft(request: &RequestRecord, breaker: BreakerState, now: DateTime<Utc>) -> AttemptRecord {
    AttemptRecord {
        request_id: request.id,
        started_at: request.started_at,
        attempted_at: now,
        completed_at: now,
        health_before: breaker,
        health_after: breaker,
        ..AttemptRecord::default()
    }
}
