//! Named courses of faults.

use std::time::Duration;

use headgate_domain::Class;
use headgate_routing::{Pool, PoolMember, Time};

use crate::behaviour::{Behaviour, Faults, Phase};

/// Where a script is played.
#[derive(Debug, Clone, Copy)]
pub struct Stage<'a> {
    /// Whose upstreams.
    pub pool: &'a Pool,
    /// What they do without a fault.
    pub healthy: Behaviour,
    /// When the first request comes.
    pub start: Time,
    /// How long it lasts.
    pub length: Duration,
}

/// A named course of faults.
#[derive(Debug, Clone, Copy)]
pub struct Script {
    /// Its name on the command line.
    pub name: &'static str,
    /// What happens, in a sentence.
    pub about: &'static str,
    play: fn(&Stage<'_>, &mut Faults),
}

impl Script {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self { name: "calm", about: "Nothing fails.", play: |_, _| {} },
        Self {
            name: "killed",
            about: "The first upstream of the best tier refuses connections for the second half of every minute.",
            play: |stage, faults| {
                stage.alternate(faults, Duration::from_secs(30), Behaviour::fails(Class::Connect, 5));
            },
        },
        Self {
            name: "flapping",
            about: "The first upstream of the best tier answers 500 for five of every ten seconds.",
            play: |stage, faults| stage.alternate(faults, Duration::from_secs(5), Behaviour::fails(Class::Server, 50)),
        },
        Self {
            name: "unavailable",
            about: "Every upstream answers 503 from the first to the third quarter.",
            play: |stage, faults| {
                for member in &stage.pool.members {
                    faults.set(member.upstream, stage.after(0.25), Behaviour::fails(Class::Overloaded, 30));
                    faults.end(member.upstream, stage.after(0.75));
                }
            },
        },
        Self {
            name: "silent",
            about: "The first upstream of the best tier takes connections and never answers, from the first to the third quarter.",
            play: |stage, faults| {
                let never = Duration::from_secs(3600);
                stage.middle(faults, Behaviour::Answers { first: never, whole: never });
            },
        },
        Self {
            name: "slow",
            about: "The first upstream of the best tier takes ten times as long, from the first to the third quarter.",
            play: |stage, faults| {
                if let Behaviour::Answers { first, whole } = stage.healthy {
                    stage.middle(faults, Behaviour::Answers { first: first * 10, whole: whole * 10 });
                }
            },
        },
        Self {
            name: "rate-limited",
            about: "The first upstream of the best tier answers 429 for half of every minute and asks to wait for 20 s.",
            play: |stage, faults| {
                let (class, after) = (Class::RateLimited, Duration::from_millis(20));
                let limited = Behaviour::Fails { class, after, retry_after: Some(Duration::from_secs(20)) };
                stage.alternate(faults, Duration::from_secs(30), limited);
            },
        },
        Self {
            name: "rate-limited-silently",
            about: "The same, without saying for how long.",
            play: |stage, faults| {
                stage.alternate(faults, Duration::from_secs(30), Behaviour::fails(Class::RateLimited, 20));
            },
        },
        Self {
            name: "revoked",
            about: "The first credential of the best tier's first upstream is revoked at the first quarter.",
            play: |stage, faults| {
                if let Some(top) = stage.top() {
                    let credential = top.credentials.first().map(|c| c.id);
                    let behaviour = Behaviour::fails(Class::Credential, 30);
                    faults.add(top.upstream, Phase { from: stage.after(0.25), behaviour, credential });
                }
            },
        },
        Self {
            name: "exhausted",
            about: "The balance of the best tier's first upstream is used up at the first quarter and topped up at the third.",
            play: |stage, faults| stage.middle(faults, Behaviour::fails(Class::Exhausted, 30)),
        },
        Self {
            name: "model-gone",
            about: "The best tier's first upstream does not have the model any more from the first to the third quarter.",
            play: |stage, faults| stage.middle(faults, Behaviour::fails(Class::ModelMissing, 30)),
        },
        Self {
            name: "empty",
            about: "The first upstream of the best tier answers 200 with nothing, from the first to the third quarter.",
            play: |stage, faults| stage.middle(faults, Behaviour::fails(Class::Empty, 200)),
        },
        Self {
            name: "fails-fast",
            about: "The first upstream of the best tier fails within a millisecond, from the first to the third quarter.",
            play: |stage, faults| stage.middle(faults, Behaviour::fails(Class::Server, 1)),
        },
        Self {
            name: "cut",
            about: "Answers of the best tier's first upstream break off after their beginning, from the first to the third quarter.",
            play: |stage, faults| {
                stage.middle(faults, Behaviour::Breaks { class: Class::Cut, after: Duration::from_secs(1) });
            },
        },
        Self {
            name: "leaving",
            about: "Half of the clients leave before the end of their answer.",
            play: |_, faults| faults.leaving = 0.5,
        },
    ];

    /// The script of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|script| script.name == name)
    }

    /// What its upstreams do on this stage.
    pub fn play(&self, stage: &Stage<'_>) -> Faults {
        let mut faults = Faults::none(stage.healthy);
        (self.play)(stage, &mut faults);
        faults
    }
}

impl Stage<'_> {
    /// The first upstream of the best tier that is switched on.
    pub fn top(&self) -> Option<&PoolMember> {
        self.pool.members.iter().filter(|m| m.upstream_enabled && m.member_enabled).min_by_key(|m| m.priority)
    }

    fn after(&self, share: f64) -> Time {
        self.start + self.length.mul_f64(share)
    }

    /// The top upstream is well for `half`, ill for `half`, and so on.
    fn alternate(&self, faults: &mut Faults, half: Duration, ill: Behaviour) {
        let Some(top) = self.top() else { return };
        let mut at = self.start + half;
        while at < self.start + self.length {
            faults.set(top.upstream, at, ill);
            faults.end(top.upstream, at + half);
            at = at + half * 2;
        }
    }

    /// The top upstream is ill from the first to the third quarter.
    fn middle(&self, faults: &mut Faults, ill: Behaviour) {
        let Some(top) = self.top() else { return };
        faults.set(top.upstream, self.after(0.25), ill);
        faults.end(top.upstream, self.after(0.75));
    }
}
