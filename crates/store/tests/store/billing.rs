//! What billing APIs said, kept and forgotten.

use chrono::{DateTime, TimeDelta, Utc};
use headgate_domain::{Concern, GroupId, UpstreamId, Usage};
use headgate_pricing::{
    Currency,
    compare::{Scope, Snapshot, charges::Charge},
    schedule::{Multiplier, Peak},
};
use headgate_store::{
    billing::{BillingStatus, ManualMultiplier, ToldConcerns},
    by_hand::SetBy,
};
use rust_decimal::Decimal;

use crate::support;

const UPSTREAM: UpstreamId = UpstreamId(7);

fn at(hour: i64) -> DateTime<Utc> {
    "2026-06-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap() + TimeDelta::hours(hour)
}

fn snapshot(hour: i64) -> Snapshot {
    let time = |text: &str| text.parse().unwrap();
    let peak = Peak {
        start: time("18:00:00"),
        end: time("22:00:00"),
        factor: Decimal::TWO,
        zone: "Asia/Shanghai".parse().unwrap(),
    };
    Snapshot {
        at: at(hour),
        key: u64::MAX - 1,
        currency: Currency::USD,
        list: Some("2.3799".parse().unwrap()),
        charged: Some("0.118995".parse().unwrap()),
        requests: Some(3),
        remaining: Some(Decimal::from(hour)),
        multiplier: Some(Multiplier { base: Decimal::ONE, peak: Some(peak) }),
        counters: Scope::Key,
        balance: Scope::Account,
    }
}

#[tokio::test]
async fn a_collection_is_kept_as_it_was_told_and_a_persons_word_beside_it() {
    let database = support::database().await;
    let manual = ManualMultiplier { multiplier: Decimal::TWO, at: at(0) };
    database.set_manual_multiplier(UPSTREAM, Some(&manual), at(0), "somebody").await.unwrap();
    let told = snapshot(1);
    let status = BillingStatus { key: told.key, figures: Some(told.clone()), ..BillingStatus::default() };
    database.store_billing(UPSTREAM, &status, Some(&told), at(2)).await.unwrap();
    let (id, row) = database.billing(Some(UPSTREAM)).await.unwrap().remove(0);
    assert_eq!((id, row.due_at, row.manual, row.status), (UPSTREAM, at(2), Some(manual), status));
    assert_eq!(database.billing_snapshots(UPSTREAM, at(0), at(9)).await.unwrap(), [told]);
    database.set_manual_multiplier(UPSTREAM, None, at(3), "another").await.unwrap();
    assert_eq!(database.billing(None).await.unwrap().remove(0).1.manual, None);
}

#[tokio::test]
async fn what_was_set_by_hand_is_remembered_with_its_author_as_long_as_it_held() {
    let database = support::database().await;
    let set = async |hour: i64, multiplier: Option<i64>, author: &str| {
        let manual = multiplier.map(|m| ManualMultiplier { multiplier: Decimal::from(m), at: at(hour) });
        database.set_manual_multiplier(UPSTREAM, manual.as_ref(), at(hour), author).await.unwrap();
    };
    set(1, Some(2), "one").await;
    set(2, Some(3), "two").await;
    set(5, None, "one").await;
    let known = async || {
        let all = database.multipliers_by_hand(&[UPSTREAM]).await.unwrap();
        let told = |(_, s): (UpstreamId, SetBy)| ((s.set.at - at(0)).num_hours(), s.set.multiplier, s.author.unwrap());
        all.into_iter().map(told).collect::<Vec<_>>()
    };
    let two = Some(Decimal::from(3));
    let all = [(1, Some(Decimal::TWO), "one"), (2, two, "two"), (5, None, "one")];
    assert_eq!(known().await, all.map(|(hour, m, author)| (hour, m, author.to_owned())));
    database.forget_multipliers_by_hand(at(3)).await.unwrap();
    assert_eq!(known().await.len(), 2, "what held at that time stays");
    database.forget_multipliers_by_hand(at(9)).await.unwrap();
    assert_eq!(known().await, [(5, None, "one".to_owned())]);
}

#[tokio::test]
async fn one_of_several_processes_gets_a_collection() {
    let database = support::database().await;
    let claim = |by, again| database.claim_billing(UPSTREAM, by, again);
    let (one, two) = tokio::join!(claim(at(0), at(1)), claim(at(0), at(1)));
    assert_eq!(usize::from(one.unwrap()) + usize::from(two.unwrap()), 1);
    assert!(!claim(at(0), at(2)).await.unwrap(), "it is not due yet");
    assert!(claim(at(1), at(2)).await.unwrap());
}

#[tokio::test]
async fn a_span_of_snapshots_has_the_one_before_it_and_the_newest_two_are_never_forgotten() {
    let database = support::database().await;
    for hour in 0..5 {
        let told = snapshot(hour);
        database.store_billing(UPSTREAM, &BillingStatus::default(), Some(&told), at(hour)).await.unwrap();
    }
    let hours = async || {
        let all = database.billing_snapshots(UPSTREAM, at(-9), at(99)).await.unwrap();
        all.iter().map(|s| (s.at - at(0)).num_hours()).collect::<Vec<_>>()
    };
    let span = database.billing_snapshots(UPSTREAM, at(1) + TimeDelta::minutes(30), at(3)).await.unwrap();
    assert_eq!(span.iter().map(|s| (s.at - at(0)).num_hours()).collect::<Vec<_>>(), [1, 2, 3]);
    database.forget_billing(at(2)).await.unwrap();
    assert_eq!(hours().await, [2, 3, 4]);
    database.forget_billing(at(99)).await.unwrap();
    assert_eq!(hours().await, [3, 4]);
}

#[tokio::test]
async fn one_of_several_processes_gets_to_tell_a_concern() {
    let database = support::database().await;
    database.claim_billing(UPSTREAM, at(0), at(1)).await.unwrap();
    let told = |concerns: &[Concern]| ToldConcerns {
        concerns: concerns.iter().copied().collect(),
        multiplier_changed_at: Some(at(1)),
    };
    let (nothing, some) =
        (ToldConcerns::default(), told(&[Concern::BalanceLow, Concern::OverCap { group: GroupId(3) }]));
    assert!(database.claim_concerns(UPSTREAM, &nothing, &some).await.unwrap());
    assert!(!database.claim_concerns(UPSTREAM, &nothing, &some).await.unwrap(), "another was first");
    let kept = database.billing(Some(UPSTREAM)).await.unwrap().remove(0).1.told;
    assert_eq!(kept, some);
    assert!(database.claim_concerns(UPSTREAM, &kept, &told(&[Concern::BalanceLow])).await.unwrap());
    assert!(!database.claim_concerns(UpstreamId(99), &nothing, &some).await.unwrap());
}

#[tokio::test]
async fn a_charge_is_kept_once_as_it_was_told_first_until_it_is_old() {
    let database = support::database().await;
    assert_eq!(database.charges_reach(UPSTREAM).await.unwrap(), None);
    let charge = |hour: i64, id: &str| Charge {
        id: id.to_owned(),
        at: at(hour),
        model: "m".to_owned(),
        request_id: Some("r".to_owned()),
        key: None,
        usage: Usage { fresh: Some(1), output: Some(2), ..Usage::default() },
        list: Some(Decimal::new(123, 12)),
        charged: Decimal::new(1, 12),
        multiplier: None,
    };
    let (old, new) = (charge(1, "old"), charge(5, "new"));
    database.store_charges(UPSTREAM, &[new.clone(), old.clone()]).await.unwrap();
    database.store_charges(UPSTREAM, &[Charge { model: "other".to_owned(), ..old.clone() }]).await.unwrap();
    database.store_charges(UpstreamId(8), &[charge(3, "old")]).await.unwrap();
    assert_eq!(database.charges(UPSTREAM, at(0), at(9)).await.unwrap(), [old, new.clone()]);
    assert_eq!(database.charges_reach(UPSTREAM).await.unwrap(), Some((at(1), at(5))));
    database.forget_charges(at(4)).await.unwrap();
    assert_eq!(database.charges(UPSTREAM, at(0), at(9)).await.unwrap(), [new]);
}
