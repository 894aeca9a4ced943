//! What is worth telling people: turns of health, and of groups by those of their members.
//!
//! A turn is news only when it changes what is known of its subject, so that a breaker that opens again after a trial,
//! or a key that is refused again an hour later, is told once. How often news is told is [`crate::Debounce`]'s affair.

use std::collections::BTreeMap;

use headgate_domain::{
    AlertEvent, BudgetLevel, BudgetOwner, BudgetSpan, Class, Concern, CredentialId, GroupId, UpstreamId,
};

use crate::pool::{Pool, PoolMember};

/// What an alert is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// An upstream.
    Upstream(UpstreamId),
    /// A credential of an upstream; `None` where none is needed.
    Credential(UpstreamId, Option<CredentialId>),
    /// A model of an upstream, by the name it has there.
    Model(UpstreamId, Box<str>),
    /// A group.
    Group(GroupId),
    /// A budget that is used to a share; each share is told of by itself.
    Budget(BudgetOwner, BudgetSpan, BudgetLevel),
    /// An upstream's money.
    Money(UpstreamId, Concern),
}

impl Subject {
    /// The upstream it belongs to.
    pub fn upstream(&self) -> Option<UpstreamId> {
        match self {
            Self::Upstream(upstream)
            | Self::Credential(upstream, _)
            | Self::Model(upstream, _)
            | Self::Money(upstream, _) => Some(*upstream),
            Self::Group(_) | Self::Budget(..) => None,
        }
    }
}

/// A change of a subject that people may be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What changed.
    pub subject: Subject,
    /// How.
    pub event: AlertEvent,
    /// The class of the result behind it; `None`: it follows from others.
    pub class: Option<Class>,
}

impl Turn {
    /// A turn after a result of this class.
    pub fn new(subject: Subject, event: AlertEvent, class: Class) -> Self {
        Self { subject, event, class: Some(class) }
    }
}

/// What is wrong at present, as far as it was told.
#[derive(Debug, Default)]
pub struct Wrongs(BTreeMap<Subject, AlertEvent>);

impl Wrongs {
    /// Takes a turn: it and what follows from it for the groups, as far as it is news.
    pub fn take<'p>(&mut self, turn: Turn, pools: impl IntoIterator<Item = &'p Pool>) -> Vec<Turn> {
        let mut news = Vec::new();
        if self.note(&turn) {
            news.push(turn);
            news.extend(self.look_at_groups(pools));
        }
        news
    }

    /// Follows a configuration that was changed: what is no longer there is forgotten without a word, and groups may
    /// have gone down or come back by it.
    pub fn follow<'p>(
        &mut self,
        is_there: impl Fn(&Subject) -> bool,
        pools: impl IntoIterator<Item = &'p Pool>,
    ) -> Vec<Turn> {
        self.0.retain(|subject, _| is_there(subject));
        self.look_at_groups(pools)
    }

    /// A person cleared an upstream's health, or that of one model: it is no longer held against it.
    pub fn clear<'p>(
        &mut self,
        upstream: UpstreamId,
        model: Option<&str>,
        pools: impl IntoIterator<Item = &'p Pool>,
    ) -> Vec<Turn> {
        self.0.retain(|subject, _| match (subject, model) {
            (Subject::Model(of, name), Some(model)) => *of != upstream || &**name != model,
            (_, Some(_)) => true,
            (subject, None) => subject.upstream() != Some(upstream),
        });
        self.look_at_groups(pools)
    }

    /// Whether the turn changes what is known of its subject. A recovery is news only of what was known to be wrong.
    fn note(&mut self, turn: &Turn) -> bool {
        if turn.event.is_recovery() {
            return self.0.remove(&turn.subject).is_some();
        }
        self.0.insert(turn.subject.clone(), turn.event) != Some(turn.event)
    }

    fn look_at_groups<'p>(&mut self, pools: impl IntoIterator<Item = &'p Pool>) -> Vec<Turn> {
        let mut news = Vec::new();
        for pool in pools {
            let event = if self.is_down(pool) { AlertEvent::GroupDown } else { AlertEvent::GroupBack };
            let turn = Turn { subject: Subject::Group(pool.group), event, class: None };
            if self.note(&turn) {
                news.push(turn);
            }
        }
        news
    }

    /// Whether every member that is switched on is out. A group without such a member was emptied by a person.
    fn is_down(&self, pool: &Pool) -> bool {
        let mut on = pool.members.iter().filter(|m| m.upstream_enabled && m.member_enabled).peekable();
        on.peek().is_some() && on.all(|member| self.is_out(member))
    }

    fn is_out(&self, member: &PoolMember) -> bool {
        let is_wrong = |subject: &Subject| self.0.contains_key(subject);
        let refused = |id| is_wrong(&Subject::Credential(member.upstream, id));
        let no_credential = if member.credentials.is_empty() {
            refused(None)
        } else {
            member.credentials.iter().all(|c| c.missing || refused(Some(c.id)))
        };
        no_credential || is_wrong(&Subject::Upstream(member.upstream))
    }
}

#[cfg(test)]
mod tests;
