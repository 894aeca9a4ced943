//! Settings: names, defaults and bounds in one table.

use std::fmt;

use chrono::{DateTime, NaiveDate, TimeZone as _, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

use crate::{masked::MaskedUrl, secret::Secret, span::Span};

/// A size in bytes, written `64MiB`, `512KiB` or as a number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ToSchema)]
#[schema(value_type = String, examples("64MiB"))]
pub struct Size(pub u64);

impl Size {
    /// Mebibytes.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] {
            if self.0 >= 1 << shift && self.0.trailing_zeros() >= shift {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}", self.0)
    }
}

impl std::str::FromStr for Size {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(at);
        let shift = match unit.trim() {
            "" | "B" => 0,
            "KiB" => 10,
            "MiB" => 20,
            "GiB" => 30,
            _ => return Err(format!("'{text}' is not a size; write it like 64MiB, 512KiB or a number of bytes")),
        };
        let number: u64 = number.parse().map_err(|_| format!("'{text}' is not a size"))?;
        number.checked_mul(1 << shift).map(Self).ok_or_else(|| format!("'{text}' is too large"))
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a size such as 64MiB or a number of bytes")]
        enum Form {
            Number(u64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(n) => Ok(Self(n)),
            Form::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident : $type:ty = $default:expr $(, $low:expr => $high:expr)?;)*) => {
        /// Every setting with its effective value.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Settings {
            $($(#[$doc])* pub $name: $type,)*
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        /// The settings that were set; what is absent has its default.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct SettingsPatch {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $name: Option<$type>,)*
        }

        impl SettingsPatch {
            /// The effective settings: defaults with these values laid over.
            pub fn effective(&self) -> Settings {
                let mut settings = Settings::default();
                $(if let Some(value) = &self.$name { settings.$name = value.clone(); })*
                settings
            }

            /// Lays `other` over these values; what `other` leaves out stays.
            pub fn merge(&mut self, other: &Self) {
                $(if let Some(value) = &other.$name { self.$name = Some(value.clone()); })*
            }

            /// Goes back to the default of one setting; false if there is none of that name.
            pub fn unset(&mut self, name: &str) -> bool {
                match name {
                    $(stringify!($name) => { self.$name = None; true })*
                    _ => false,
                }
            }
        }

        impl Settings {
            /// Every value that is out of its bounds: the setting's name and a sentence.
            pub fn out_of_bounds(&self) -> Vec<(&'static str, String)> {
                let mut wrong = Vec::new();
                $($(
                    if !($low..=$high).contains(&self.$name) {
                        wrong.push((stringify!($name), format!("{} is not between {} and {}", self.$name, $low, $high)));
                    }
                )?)*
                if self.breaker_open_max < self.breaker_open {
                    wrong.push(("breaker_open_max", format!("{} is less than breaker_open, which is {}", self.breaker_open_max, self.breaker_open)));
                }
                wrong
            }
        }
    };
}

const MIN_TIMEOUT: Span = Span::millis(100);
const HOUR: Span = Span::secs(3600);
const DAY: Span = Span::secs(86_400);
const TEN_YEARS: Span = Span::secs(3650 * 86_400);

settings! {
    /// Candidates tried for one request.
    max_attempts: u32 = 3, 1 => 20;
    /// Limit for DNS, TCP, TLS and proxy together.
    connect_timeout: Span = Span::secs(10), MIN_TIMEOUT => HOUR;
    /// Limit until the first work of a stream.
    first_response_timeout: Span = Span::secs(120), MIN_TIMEOUT => HOUR;
    /// Limit of silence inside a stream.
    stream_idle_timeout: Span = Span::secs(300), MIN_TIMEOUT => HOUR;
    /// Limit of a whole answer that is not streamed.
    non_stream_timeout: Span = Span::secs(600), MIN_TIMEOUT => HOUR;
    /// Tightens the first-response limit from what was observed.
    adaptive_timeout: bool = true;
    /// Silence after which a translated stream gets a keep-alive.
    keep_alive: Span = Span::secs(15), Span::secs(1) => Span::secs(120);
    /// Failures in a row that open a breaker.
    breaker_failures: u32 = 3, 1 => 100;
    /// Window of the breaker's error rate.
    breaker_window: Span = Span::secs(300), Span::secs(10) => HOUR;
    /// Share of failures in the window that opens a breaker.
    breaker_error_rate: f64 = 0.5, 0.01 => 1.0;
    /// Results in the window before the rate counts.
    breaker_min_results: u32 = 10, 1 => 10_000;
    /// How long a breaker stays open the first time.
    breaker_open: Span = Span::secs(30), MIN_TIMEOUT => DAY;
    /// How long a breaker stays open at the most.
    breaker_open_max: Span = Span::secs(300), MIN_TIMEOUT => DAY;
    /// Successes in a row that close a half-open breaker.
    breaker_recovery_successes: u32 = 2, 1 => 100;
    /// Repeats on the same candidate.
    retry_same: u32 = 0, 0 => 3;
    /// Repeats as a share of requests over 10 s.
    retry_budget: f64 = 0.2, 0.0 => 1.0;
    /// The longest wait that is told to a client as `Retry-After`.
    retry_after_max: Span = Span::secs(60), Span::secs(0) => HOUR;
    /// Keeps a session on its upstream.
    affinity: bool = true;
    /// How long a session is remembered.
    affinity_ttl: Span = Span::secs(6 * 3600), Span::secs(60) => Span::secs(30 * 86_400);
    /// Sessions remembered.
    affinity_max: u32 = 8192, 0 => 1_000_000;
    /// How long requests are kept; 0 is for ever.
    request_retention: Span = Span::secs(7 * 86_400), Span::secs(0) => TEN_YEARS;
    /// How long probe results are kept; 0 is for ever.
    probe_retention: Span = Span::secs(30 * 86_400), Span::secs(0) => TEN_YEARS;
    /// How long billing snapshots are kept; 0 is for ever.
    billing_retention: Span = Span::secs(30 * 86_400), Span::secs(0) => TEN_YEARS;
    /// Largest client body.
    body_limit: Size = Size::mib(64), Size(1024) => Size::mib(1024);
    /// Largest single stream event.
    event_limit: Size = Size::mib(16), Size(1024) => Size::mib(256);
    /// Host names accepted besides loopback names.
    allowed_hosts: Vec<String> = Vec::new();
    /// Origins accepted besides our own.
    allowed_origins: Vec<String> = Vec::new();
    /// IANA name that defines today, day and month; absent until the first start has written the machine's.
    time_zone: Option<String> = None;
    /// Proxy for prices, updates and webhooks.
    fetch_proxy: Option<MaskedUrl> = None;
    /// Where a published price list is fetched from once a day; absent: the one that came with the program is used.
    prices_url: Option<String> = None;
    /// Quiet time between two alerts of one kind.
    alert_debounce: Span = Span::secs(60), Span::secs(0) => DAY;
}

impl Settings {
    /// Values whose rule is more than a bound.
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut wrong = self.out_of_bounds();
        for (name, days) in [
            ("request_retention", self.request_retention),
            ("probe_retention", self.probe_retention),
            ("billing_retention", self.billing_retention),
        ] {
            if days.0 > std::time::Duration::ZERO && days < DAY {
                wrong.push((name, format!("{days} is less than a day; 0 keeps for ever")));
            }
        }
        if let Some(zone) = &self.time_zone
            && zone.parse::<chrono_tz::Tz>().is_err()
        {
            wrong.push((
                "time_zone",
                format!("'{zone}' is not an IANA time zone such as Europe/Berlin or Asia/Shanghai"),
            ));
        }
        if let Some(proxy) = &self.fetch_proxy
            && let Err(why) = crate::upstream::check_proxy(proxy.expose())
        {
            wrong.push(("fetch_proxy", why));
        }
        if let Some(url) = &self.prices_url
            && let Err(why) = crate::upstream::check_base_url(url, false)
        {
            wrong.push(("prices_url", why));
        }
        wrong
    }

    /// The day of `now` in the time zone of these settings.
    pub fn day(&self, now: DateTime<Utc>) -> NaiveDate {
        now.with_timezone(&self.zone()).date_naive()
    }

    /// When a day begins in the time zone of these settings; none where the calendar left it out.
    pub fn begin(&self, day: NaiveDate) -> Option<DateTime<Utc>> {
        // Where the clock is put forward at midnight, the day begins at one.
        let mut first = (0..3).filter_map(|hour| day.and_hms_opt(hour, 0, 0));
        let begin = first.find_map(|time| self.zone().from_local_datetime(&time).earliest())?;
        Some(begin.with_timezone(&Utc))
    }

    /// When the day of `now` began in the time zone of these settings.
    pub fn midnight(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        self.begin(self.day(now)).unwrap_or(now)
    }

    fn zone(&self) -> chrono_tz::Tz {
        self.time_zone.as_deref().and_then(|name| name.parse().ok()).unwrap_or(chrono_tz::UTC)
    }
}

/// The vault's account of the one setting that may hold a secret.
pub const FETCH_PROXY_ACCOUNT: &str = "settings/0/fetch_proxy";

impl SettingsPatch {
    /// The secret part of the settings, if there is one to keep.
    pub fn sealed_fetch_proxy(&self) -> Option<Secret> {
        self.fetch_proxy.as_ref().and_then(|p| p.as_ref()).and_then(MaskedUrl::secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_within_their_bounds() {
        assert_eq!(Settings::default().problems(), vec![]);
    }

    #[test]
    fn a_value_out_of_bounds_names_the_setting_and_the_bounds() {
        let patch: SettingsPatch =
            serde_json::from_str(r#"{"max_attempts":99,"breaker_open":"10m","time_zone":"Mars/Olympus"}"#).unwrap();
        let wrong = patch.effective().problems();
        let names: Vec<_> = wrong.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["max_attempts", "breaker_open_max", "time_zone"]);
        assert!(wrong[0].1.contains("between 1 and 20"));
    }

    #[test]
    fn a_day_begins_at_midnight_of_its_zone_or_when_the_clock_is_put_forward_then() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let of = |zone: Option<&str>| Settings { time_zone: zone.map(Into::into), ..Settings::default() };
        let noon = at("2026-03-10T12:00:00Z");
        assert_eq!(of(None).midnight(noon), at("2026-03-10T00:00:00Z"));
        assert_eq!(of(Some("Asia/Shanghai")).midnight(at("2026-03-10T17:00:00Z")), at("2026-03-10T16:00:00Z"));
        // In Beirut the clock goes from 0:00 to 1:00 on the last Sunday of March.
        assert_eq!(of(Some("Asia/Beirut")).midnight(at("2026-03-29T12:00:00Z")), at("2026-03-28T22:00:00Z"));
    }

    #[test]
    fn sizes_read_as_they_are_written() {
        assert_eq!("64MiB".parse::<Size>().unwrap(), Size::mib(64));
        assert_eq!(Size::mib(64).to_string(), "64MiB");
        assert_eq!("1000".parse::<Size>().unwrap().to_string(), "1000");
        assert!("64MB".parse::<Size>().is_err());
    }
}
