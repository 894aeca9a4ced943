//! How long an upstream asks to wait: `Retry-After`, `retry-after-ms` and the vendors' reset headers.

use std::time::Duration;

use chrono::{DateTime, Utc};

/// The wait an answer's headers ask for, from `now`. `header` looks a header up by its lower-case name.
///
/// The precise hints win; reset headers only count when the answer is a refusal, which the caller knows.
pub fn retry_after<'h>(header: impl Fn(&str) -> Option<&'h str>, now: DateTime<Utc>) -> Option<Duration> {
    let millis =
        header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok()).map(|ms| seconds(ms / 1000.0));
    millis
        .or_else(|| header("retry-after").map(|text| instant(text.trim(), now)))
        .or_else(|| {
            [
                "anthropic-ratelimit-unified-reset",
                "anthropic-ratelimit-requests-reset",
                "anthropic-ratelimit-tokens-reset",
                "x-ratelimit-reset-requests",
                "x-ratelimit-reset-tokens",
                "x-ratelimit-reset",
            ]
            .iter()
            .find_map(|name| header(name))
            .map(|text| instant(text.trim(), now))
        })
        .flatten()
}

fn seconds(s: f64) -> Option<Duration> {
    (s.is_finite() && s >= 0.0).then(|| Duration::from_secs_f64(s.min(1e8)))
}

/// Seconds, a Unix time, an HTTP date, an RFC 3339 time, or OpenAI's `6m0s`.
fn instant(text: &str, now: DateTime<Utc>) -> Option<Duration> {
    let until = |at: DateTime<Utc>| Some((at - now).to_std().unwrap_or(Duration::ZERO));
    if let Ok(number) = text.parse::<f64>() {
        // Larger than a year of seconds: a point in time.
        if number > 1e9 {
            #[expect(clippy::cast_possible_truncation, reason = "checked to be a plausible Unix time")]
            return DateTime::from_timestamp(number.min(1e11) as i64, 0).and_then(until);
        }
        return seconds(number);
    }
    if let Ok(at) = DateTime::parse_from_rfc2822(text).or_else(|_| DateTime::parse_from_rfc3339(text)) {
        return until(at.to_utc());
    }
    go_duration(text)
}

/// `1h2m3.5s`, `250ms`.
fn go_duration(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let units = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(units);
        let size = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 0.001,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * size;
        rest = tail;
    }
    (!text.is_empty()).then(|| seconds(total)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(name: &'static str, value: &'static str) -> Option<Duration> {
        let now = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        retry_after(|n| (n == name).then_some(value), now)
    }

    #[test]
    fn every_spelling_of_a_wait_is_understood() {
        let s = Duration::from_secs;
        assert_eq!(wait("retry-after", "3"), Some(s(3)));
        assert_eq!(wait("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        assert_eq!(wait("retry-after", "Tue, 14 Nov 2023 22:13:30 GMT"), Some(s(10)));
        assert_eq!(wait("x-ratelimit-reset-requests", "6m0s"), Some(s(360)));
        assert_eq!(wait("x-ratelimit-reset-requests", "1h2m3.5s"), Some(Duration::from_millis(3_723_500)));
        assert_eq!(wait("x-ratelimit-reset-requests", "6y"), None);
        assert_eq!(wait("x-ratelimit-reset-tokens", "250ms"), Some(Duration::from_millis(250)));
        assert_eq!(wait("anthropic-ratelimit-requests-reset", "2023-11-14T22:13:50Z"), Some(s(30)));
        assert_eq!(wait("x-ratelimit-reset", "1700000007"), Some(s(7)));
        assert_eq!(wait("retry-after", "Mon, 14 Nov 2022 22:13:30 GMT"), Some(Duration::ZERO));
        for nonsense in ["soon", "-3", "NaN", ""] {
            assert_eq!(wait("retry-after", nonsense), None, "{nonsense}");
        }
    }
}
