//! What a request needs of an upstream.

use std::{collections::BTreeSet, fmt, time::Duration};

use headgate_domain::{KeyId, Protocol, UpstreamId, UpstreamKind, upstream::Capability};

use crate::strategy::Rates;

const ALL: [Capability; 7] = [
    Capability::Chat,
    Capability::Stream,
    Capability::Tools,
    Capability::Images,
    Capability::Documents,
    Capability::StructuredOutput,
    Capability::Reasoning,
];

/// A set of capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features(u8);

impl Features {
    /// None.
    pub const NONE: Self = Self(0);

    fn bit(one: Capability) -> u8 {
        match one {
            Capability::Chat => 1,
            Capability::Stream => 2,
            Capability::Tools => 4,
            Capability::Images => 8,
            Capability::Documents => 16,
            Capability::StructuredOutput => 32,
            Capability::Reasoning => 64,
        }
    }

    /// The same with one more.
    #[must_use]
    pub fn with(self, one: Capability) -> Self {
        Self(self.0 | Self::bit(one))
    }

    /// The same without one.
    #[must_use]
    pub fn without(self, one: Capability) -> Self {
        Self(self.0 & !Self::bit(one))
    }

    /// Both together.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is here and not there.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this one is among them.
    pub fn contains(self, one: Capability) -> bool {
        self.0 & Self::bit(one) != 0
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        ALL.into_iter().filter(move |one| self.contains(*one))
    }
}

impl FromIterator<Capability> for Features {
    fn from_iter<I: IntoIterator<Item = Capability>>(list: I) -> Self {
        list.into_iter().fold(Self::NONE, Self::with)
    }
}

impl From<&BTreeSet<Capability>> for Features {
    fn from(set: &BTreeSet<Capability>) -> Self {
        set.iter().copied().collect()
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, one) in self.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            f.write_str(one.as_str())?;
        }
        Ok(())
    }
}

/// What a decision must know of the request.
#[derive(Clone, Copy)]
pub struct Need<'a> {
    /// What the client speaks.
    pub protocol: Protocol,
    /// The model asked for, without its context mark.
    pub model: &'a str,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Features the request uses.
    pub features: Features,
    /// Estimated prompt in tokens.
    pub estimated_input: u64,
    /// The upstream this session was served by.
    pub affinity: Option<UpstreamId>,
    /// How long ago that was.
    pub idle: Option<Duration>,
    /// How many requests the session makes in a quarter of an hour; one that is new, what sessions of the group do.
    pub pace: f64,
    /// The access key, for the rotation of credentials.
    pub key: Option<KeyId>,
    /// Regions the key allows; `None`: any.
    pub key_regions: Option<&'a [String]>,
    /// Labels the key allows, of which an upstream needs one; `None`: any.
    pub key_labels: Option<&'a [String]>,
    /// The region the client asks for.
    pub region: Option<&'a str>,
    /// Whether the request can be expressed for this upstream, which is of this kind.
    pub expressible: &'a (dyn Fn(UpstreamId, UpstreamKind) -> bool + Sync),
    /// List prices of an upstream's model, by the name it knows, where there are any. Only `cheapest` asks.
    pub rates: &'a (dyn Fn(UpstreamId, &str) -> Option<Rates> + Sync),
    /// The caller can wait for room: a full tier of a group that says `wait` is then reported instead of passed over.
    pub may_wait: bool,
    /// The same for the session's upstream, if that is full.
    pub may_wait_for_favourite: bool,
}

impl<'a> Need<'a> {
    /// A plain request: no stream, no features, no policy, expressible everywhere.
    pub fn new(protocol: Protocol, model: &'a str) -> Self {
        Self {
            protocol,
            model,
            stream: false,
            features: Features::NONE,
            estimated_input: 0,
            affinity: None,
            idle: None,
            pace: 1.0,
            key: None,
            key_regions: None,
            key_labels: None,
            region: None,
            expressible: &|_, _| true,
            rates: &|_, _| None,
            may_wait: false,
            may_wait_for_favourite: false,
        }
    }

    /// What a member must be able to do; `reasoning` degrades with a warning and so is never demanded.
    pub(crate) fn demanded(&self) -> Features {
        let used = self.features.without(Capability::Reasoning);
        if self.stream { used.with(Capability::Stream) } else { used }
    }
}

impl fmt::Debug for Need<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Need")
            .field("protocol", &self.protocol)
            .field("model", &self.model)
            .field("stream", &self.stream)
            .field("features", &self.features)
            .field("estimated_input", &self.estimated_input)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}
