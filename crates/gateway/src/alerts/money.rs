//! What alerts say of an upstream's money.

use headgate_domain::{AlertEvent, Concern, Upstream};
use headgate_pricing::{Currency, compare::Reason};
use headgate_routing::price;
use headgate_store::billing::BillingRow;
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{billing::over_caps, snapshot::Snapshot};

/// An upstream's money as it is when it is told. What does not apply is `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Money {
    /// What it is about: the kind of alert that began it.
    about: AlertEvent,
    /// What is left, in `currency`.
    #[schema(value_type = Option<String>)]
    remaining: Option<Decimal>,
    /// The currency of what is left.
    currency: Option<Currency>,
    /// The multiplier.
    #[schema(value_type = Option<String>)]
    multiplier: Option<Decimal>,
    /// The multiplier before it changed.
    #[schema(value_type = Option<String>)]
    multiplier_before: Option<Decimal>,
    /// What one unit of list price costs: multiplier ÷ credit ratio.
    #[schema(value_type = Option<String>)]
    price: Option<Decimal>,
    /// The group's cap.
    #[schema(value_type = Option<String>)]
    cap: Option<Decimal>,
    /// Why the bill is doubted.
    reason: Option<Reason>,
    /// How much more was charged or stated than explained, in the currency of the upstream's figures.
    #[schema(value_type = Option<String>)]
    excess: Option<Decimal>,
    /// That currency.
    excess_currency: Option<Currency>,
    /// Why the billing could not be read.
    error: Option<String>,
    #[serde(skip)]
    concern: Concern,
}

impl Money {
    /// What is known of it now.
    pub fn of(concern: Concern, snapshot: &Snapshot, upstream: &Upstream, row: Option<&BillingRow>) -> Self {
        let mut money = Self {
            about: concern.event(),
            remaining: None,
            currency: None,
            multiplier: None,
            multiplier_before: None,
            price: None,
            cap: None,
            reason: None,
            excess: None,
            excess_currency: None,
            error: None,
            concern,
        };
        let status = row.map(|row| &row.status);
        let figures = status.and_then(|status| status.figures.as_ref());
        match concern {
            Concern::BalanceLow => {
                let shown = status.and_then(|status| status.shown);
                let rate = shown.map_or(Decimal::ONE, |shown| shown.rate);
                money.currency = shown.map(|shown| shown.currency).or(figures.map(|figures| figures.currency));
                let left = figures.and_then(|figures| figures.remaining?.checked_mul(rate));
                money.remaining = left.map(|left| left.round_dp(2).normalize());
            }
            Concern::MultiplierChanged => {
                let base = |m: &headgate_pricing::schedule::Multiplier| m.base.normalize();
                money.multiplier = status.and_then(|status| status.multiplier.as_ref().map(base));
                money.multiplier_before = status.and_then(|status| status.multiplier_before.as_ref().map(base));
            }
            Concern::OverCap { group } => {
                let multiplier = snapshot.standings.get(&upstream.id).and_then(|standing| standing.multiplier);
                money.multiplier = multiplier.map(|m| m.normalize());
                let price = multiplier.and_then(|m| price(m, upstream.spec.billing.credit_ratio));
                money.price = price.map(|price| price.normalize());
                money.cap = over_caps(snapshot, upstream).find(|(of, _)| *of == group).map(|(_, cap)| cap.normalize());
            }
            Concern::CollectionFailing => money.error = status.and_then(|status| status.error.clone()),
            Concern::BillingWarning => {
                let day = status.and_then(|status| status.day.as_ref());
                money.reason = day.map(|day| day.reason);
                money.excess = day.and_then(|day| day.excess);
                money.excess_currency = money.excess.and(figures.map(|figures| figures.currency));
            }
        }
        money
    }

    /// The sentence in English and Chinese.
    pub fn sentence(&self, event: AlertEvent, upstream: &str, group: &str) -> (String, String) {
        if event == AlertEvent::BillingCleared {
            return self.end(upstream, group);
        }
        let number = |n: Option<Decimal>| n.map_or_else(|| "?".to_owned(), |n| n.to_string());
        let amount = |n: Option<Decimal>, of: Option<Currency>| {
            let unit = of.map(|of| format!(" {of}")).unwrap_or_default();
            format!("{}{unit}", number(n))
        };
        match self.concern {
            Concern::BalanceLow if self.remaining.is_none_or(|left| left <= Decimal::ZERO) => (
                format!("Nothing is left at upstream {upstream}; top it up."),
                format!("上游 {upstream} 余额已用尽，请充值。"),
            ),
            Concern::BalanceLow => {
                let left = amount(self.remaining, self.currency);
                (
                    format!("{left} is left at upstream {upstream}; top it up."),
                    format!("上游 {upstream} 余额仅剩 {left}，请充值。"),
                )
            }
            Concern::MultiplierChanged => {
                let (before, now) = (number(self.multiplier_before), number(self.multiplier));
                (
                    format!("Upstream {upstream} now multiplies its prices by {now}; before it was {before}."),
                    format!("上游 {upstream} 的倍率由 {before} 变为 {now}。"),
                )
            }
            Concern::OverCap { .. } => {
                let (price, cap) = (number(self.price), number(self.cap));
                (
                    format!(
                        "Upstream {upstream} costs {price} times its list price; group {group}, whose cap is {cap}, does not use it."
                    ),
                    format!(
                        "上游 {upstream} 的价格为标价的 {price} 倍，超过分组 {group} 的上限 {cap}，该分组不再使用它。"
                    ),
                )
            }
            Concern::CollectionFailing => (
                format!(
                    "The billing of upstream {upstream} has not been read for over 30 min; its last figures count for a day."
                ),
                format!("上游 {upstream} 的计费信息已超过 30 分钟无法读取；上次的数据在一天内仍有效。"),
            ),
            Concern::BillingWarning => {
                let excess = amount(self.excess, self.excess_currency);
                match self.reason {
                    Some(Reason::ChargedExceeded) => (
                        format!(
                            "Upstream {upstream} charged {excess} more in the last day than list price and multiplier explain."
                        ),
                        format!("上游 {upstream} 最近一天多扣 {excess}，标价与倍率无法解释。"),
                    ),
                    Some(Reason::ListExceeded) => (
                        format!(
                            "Upstream {upstream} states a list price {excess} above that of the tokens it reported in the last day."
                        ),
                        format!("上游 {upstream} 最近一天的标价比其所报令牌的标价高出 {excess}。"),
                    ),
                    Some(Reason::TokensExceeded) => (
                        format!("Upstream {upstream} reports more tokens than passed through in the last day."),
                        format!("上游 {upstream} 最近一天上报的令牌数多于实际经过的数量。"),
                    ),
                    _ => (
                        format!("The bill of upstream {upstream} of the last day is not explained."),
                        format!("上游 {upstream} 最近一天的账单无法解释。"),
                    ),
                }
            }
        }
    }

    fn end(&self, upstream: &str, group: &str) -> (String, String) {
        match self.concern {
            Concern::BalanceLow => (
                format!("The balance at upstream {upstream} is enough again."),
                format!("上游 {upstream} 的余额已恢复充足。"),
            ),
            Concern::OverCap { .. } => (
                format!("Upstream {upstream} is within the cap of group {group} again."),
                format!("上游 {upstream} 已回到分组 {group} 的倍率上限之内。"),
            ),
            Concern::CollectionFailing => (
                format!("The billing of upstream {upstream} is read again."),
                format!("上游 {upstream} 的计费信息已恢复读取。"),
            ),
            Concern::MultiplierChanged | Concern::BillingWarning => (
                format!("The bill of upstream {upstream} of the last day is explained again."),
                format!("上游 {upstream} 最近一天的账单已恢复正常。"),
            ),
        }
    }
}

/// What it was before and is now.
pub fn states(concern: Concern, event: AlertEvent) -> (Option<&'static str>, Option<&'static str>) {
    let (well, wrong) = match concern {
        Concern::BalanceLow => ("enough", "low"),
        Concern::OverCap { .. } => ("within", "over"),
        Concern::CollectionFailing => ("read", "failing"),
        Concern::BillingWarning => ("explained", "doubted"),
        Concern::MultiplierChanged => return (None, None),
    };
    if event.is_recovery() { (Some(wrong), Some(well)) } else { (Some(well), Some(wrong)) }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use headgate_domain::{Configuration, GroupId};
    use headgate_pricing::{
        compare::{Scope, Snapshot as Figures, Status},
        schedule::Multiplier,
    };
    use headgate_store::billing::{BillingStatus, Day};

    use super::*;

    fn d(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn money(concern: Concern, change: impl FnOnce(&mut BillingStatus)) -> Money {
        let upstream: Upstream = serde_json::from_value(serde_json::json!({"id": 7, "name": "relay-a", "revision": 1,
            "next_credential": 1, "credentials": [], "spec": {"base_url": "https://a.example"}}))
        .unwrap();
        let at: DateTime<Utc> = "2026-06-01T00:00:00Z".parse().unwrap();
        let figures = Figures {
            at,
            key: 1,
            currency: Currency::USD,
            list: None,
            charged: None,
            requests: None,
            remaining: Some(d("3.204")),
            multiplier: None,
            counters: Scope::Key,
            balance: Scope::Key,
        };
        let mut status = BillingStatus { figures: Some(figures), ..BillingStatus::default() };
        change(&mut status);
        let row = BillingRow { due_at: at, status, manual: None, told: Default::default() };
        let snapshot = Snapshot::build(
            headgate_domain::Revision(1),
            std::sync::Arc::new(Configuration::default()),
            &Default::default(),
            &Default::default(),
            &Default::default(),
        );
        Money::of(concern, &snapshot, &upstream, Some(&row))
    }

    fn says(concern: Concern, change: impl FnOnce(&mut BillingStatus)) -> String {
        money(concern, change).sentence(concern.event(), "relay-a", "coding").0
    }

    #[test]
    fn each_concern_is_said_with_its_figures() {
        assert_eq!(says(Concern::BalanceLow, |_| {}), "3.2 USD is left at upstream relay-a; top it up.");
        assert_eq!(
            says(Concern::MultiplierChanged, |status| {
                status.multiplier_before = Some(Multiplier::flat(d("1.0")));
                status.multiplier = Some(Multiplier::flat(d("2.50")));
            }),
            "Upstream relay-a now multiplies its prices by 2.5; before it was 1."
        );
        let doubted = |reason| {
            says(Concern::BillingWarning, |status| {
                status.day = Some(Day { status: Status::Warning, reason, excess: Some(d("0.05")), spent: None });
            })
        };
        let charged = "Upstream relay-a charged 0.05 USD more in the last day than list price and multiplier explain.";
        assert_eq!(doubted(Reason::ChargedExceeded), charged);
        assert!(doubted(Reason::TokensExceeded).contains("more tokens than passed through"));
        assert!(says(Concern::CollectionFailing, |_| {}).contains("30 min"));
    }

    #[test]
    fn an_empty_balance_and_the_end_of_a_concern_have_words_of_their_own() {
        let empty = says(Concern::BalanceLow, |status| {
            status.figures.as_mut().unwrap().remaining = Some(Decimal::ZERO);
        });
        assert_eq!(empty, "Nothing is left at upstream relay-a; top it up.");
        let cap = Concern::OverCap { group: GroupId(3) };
        let over = money(cap, |_| {}).sentence(AlertEvent::BillingCleared, "relay-a", "coding");
        assert_eq!(over.0, "Upstream relay-a is within the cap of group coding again.");
        assert_eq!(states(cap, AlertEvent::BillingCleared), (Some("over"), Some("within")));
    }
}
