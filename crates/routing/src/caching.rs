//! What an upstream's prompt cache does for a model, and how long its answers are: learned from what it reported.

use std::time::Duration;

use headgate_domain::Usage;

/// Answers that count; older ones fade.
const KEPT: f64 = 50.0;
/// Prompts below are cached by nobody.
const CACHEABLE: u64 = 1024;
/// What is assumed before anything was seen: 4.25 hits of 5, as the reference's figures have it.
const PRIOR: (f64, f64) = (4.25, 0.75);

/// Tokens of one answer, as the upstream reported them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// The whole prompt.
    pub input: u64,
    /// Of it, read from a cache.
    pub read: u64,
    /// Of it, written to a cache.
    pub written: u64,
    /// Some of it was written for an hour, not for five minutes.
    pub hour: bool,
    /// The answer.
    pub output: u64,
}

impl Tokens {
    /// Those of a usage that says how long prompt and answer were.
    pub fn of(usage: &Usage) -> Option<Self> {
        let written = [usage.write_5m, usage.write_1h, usage.write_other].iter().flatten().sum();
        let input = usage.input();
        let output = usage.output.filter(|_| input > 0)?;
        let hour = usage.write_1h.is_some_and(|n| n > 0);
        Some(Self { input, read: usage.read.unwrap_or(0), written, hour, output })
    }
}

/// What is known of one upstream × model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caching {
    hits: f64,
    misses: f64,
    /// Share of the prompt that a cache had to do with, over the answers where one had.
    covered: Mean,
    output: Mean,
    /// It reports what it writes to its cache, so writing has its price.
    writes: bool,
    hour: bool,
}

/// A mean of the last values, older ones fading.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    value: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.count = (self.count + 1.0).min(KEPT);
        self.value += (value - self.value) / self.count;
    }

    fn known(self) -> Option<f64> {
        (self.count > 0.0).then_some(self.value)
    }
}

/// How a cache behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CacheUse {
    /// Share of the prompt it has to do with.
    pub(crate) coverage: f64,
    /// How often what was written is found.
    pub(crate) hit_rate: f64,
    /// Writing is charged for.
    pub(crate) writes: bool,
    /// How long what was written is kept.
    pub(crate) life: Duration,
}

impl Caching {
    /// Takes the counters of an answer.
    #[expect(clippy::cast_precision_loss, reason = "tokens of one request")]
    pub(crate) fn learn(&mut self, tokens: &Tokens) {
        self.output.add(tokens.output as f64);
        let touched = tokens.read.saturating_add(tokens.written);
        self.writes |= tokens.written > 0;
        if tokens.written > 0 {
            self.hour = tokens.hour;
        }
        if tokens.input < CACHEABLE || (touched == 0 && self.covered.known().is_none()) {
            return;
        }
        let fade = (1.0 - 1.0 / KEPT).powf(f64::from(u8::from(self.hits + self.misses >= KEPT)));
        self.hits *= fade;
        self.misses *= fade;
        if tokens.read > 0 {
            self.hits += 1.0;
        } else {
            self.misses += 1.0;
        }
        if touched > 0 {
            self.covered.add((touched as f64 / tokens.input as f64).min(1.0));
        }
    }

    /// Tokens of an answer, on average.
    pub(crate) fn output(&self) -> Option<f64> {
        self.output.known()
    }

    /// How its cache behaves; `None`: it was not seen to have one.
    pub(crate) fn cache(&self) -> Option<CacheUse> {
        let (hits, misses) = PRIOR;
        Some(CacheUse {
            coverage: self.covered.known()?,
            hit_rate: (hits + self.hits) / (hits + misses + self.hits + self.misses),
            writes: self.writes,
            life: Duration::from_secs(if self.hour { 3600 } else { 300 }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, read: u64, written: u64) -> Tokens {
        Tokens { input, read, written, hour: false, output: 100 }
    }

    #[test]
    fn an_upstream_without_a_cache_is_not_believed_to_have_one() {
        let mut c = Caching::default();
        for _ in 0..20 {
            c.learn(&tokens(5000, 0, 0));
        }
        assert_eq!((c.cache(), c.output()), (None, Some(100.0)));
    }

    #[test]
    fn hits_and_coverage_are_learned_and_old_ones_fade() {
        let mut c = Caching::default();
        c.learn(&tokens(10_000, 0, 9000));
        for _ in 0..10 {
            c.learn(&tokens(10_000, 9000, 0));
        }
        let seen = c.cache().unwrap();
        assert!((seen.coverage - 0.9).abs() < 1e-9 && seen.hit_rate > 0.85 && seen.writes, "{seen:?}");
        for _ in 0..200 {
            c.learn(&tokens(10_000, 0, 0));
        }
        assert!(c.cache().unwrap().hit_rate < 0.1, "what once was does not count for ever: {c:?}");
    }

    #[test]
    fn short_prompts_say_nothing_of_a_cache() {
        let mut c = Caching::default();
        c.learn(&tokens(10_000, 9000, 0));
        let before = c.cache();
        for _ in 0..50 {
            c.learn(&tokens(500, 0, 0));
        }
        assert_eq!(c.cache(), before);
    }
}
