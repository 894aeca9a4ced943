use super::{Reason::*, Status::*, *};
use crate::{
    by_hand::{ByHand, Set},
    schedule::Peak,
};

const T0: i64 = 1_780_000_000;

fn at(minute: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(T0 - T0 % 86_400 + minute * 60, 0).unwrap()
}

fn d(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn hour() -> Window {
    Window { from: at(0), to: at(60) }
}

/// A snapshot at a minute: list, charged, multiplier.
fn snap(minute: i64, list: Option<&str>, charged: Option<&str>, multiplier: Option<&str>) -> Snapshot {
    Snapshot {
        at: at(minute),
        key: 1,
        currency: Currency::USD,
        list: list.map(d),
        charged: charged.map(d),
        requests: None,
        remaining: None,
        multiplier: multiplier.map(|m| Multiplier::flat(d(m))),
        counters: Scope::Key,
        balance: Scope::Key,
    }
}

fn left(minute: i64, list: Option<&str>, remaining: &str, multiplier: &str) -> Snapshot {
    Snapshot { remaining: Some(d(remaining)), ..snap(minute, list, None, Some(multiplier)) }
}

fn paid(minute: i64, list: &str) -> Use {
    Use { at: at(minute), list: Some(d(list)), complete: true, observed_at_most: None }
}

fn unpriced(minute: i64) -> Use {
    Use { list: None, complete: false, ..paid(minute, "0") }
}

fn lower_bound(minute: i64, list: &str) -> Use {
    Use { complete: false, ..paid(minute, list) }
}

fn many(n: usize, list: &str, at_most: &str) -> Vec<Use> {
    vec![Use { observed_at_most: Some(d(at_most)), ..paid(30, list) }; n]
}

struct Case {
    name: &'static str,
    snapshots: Vec<Snapshot>,
    uses: Vec<Use>,
    says: (Status, Reason),
}

fn case(name: &'static str, snapshots: Vec<Snapshot>, uses: Vec<Use>, says: (Status, Reason)) -> Case {
    Case { name, snapshots, uses, says }
}

fn pair(list: Option<&str>, charged: Option<&str>, multiplier: Option<&str>) -> Vec<Snapshot> {
    vec![snap(0, list.map(|_| "0"), charged.map(|_| "0"), multiplier), snap(60, list, charged, multiplier)]
}

fn keyed(mut snapshots: Vec<Snapshot>, n: usize, change: impl Fn(&mut Snapshot)) -> Vec<Snapshot> {
    snapshots.iter_mut().skip(n).for_each(change);
    snapshots
}

fn cases() -> Vec<Case> {
    let some = Some;
    let account = |s: &mut Snapshot| (s.counters, s.balance) = (Scope::Account, Scope::Account);
    vec![
        // The reference's four.
        case(
            "charged as said, nothing local",
            pair(some("2.3799"), some("0.118995"), some("0.05")),
            vec![],
            (Ok, AsExpected),
        ),
        case(
            "no list track without a local price",
            pair(some("1.318"), some("0.1714"), some("0.13")),
            vec![paid(30, "0")],
            (Ok, AsExpected),
        ),
        case(
            "more than our own estimate is no proof",
            pair(None, some("4.96"), some("1")),
            vec![paid(30, "2.387")],
            (Ok, ChargedExceededLocalBasis),
        ),
        case(
            "more than the stated list explains",
            pair(some("2.02"), some("0.35"), some("0.15")),
            vec![],
            (Warning, ChargedExceeded),
        ),
        // What is not there.
        case("no snapshots", vec![], vec![paid(30, "1")], (CannotTell, NoSnapshots)),
        case("one snapshot", vec![snap(0, some("1"), some("1"), some("1"))], vec![], (CannotTell, NoSnapshots)),
        case(
            "two of the same moment",
            vec![snap(5, some("1"), some("1"), some("1")), snap(5, some("2"), some("2"), some("1"))],
            vec![],
            (CannotTell, NoUsablePair),
        ),
        case("no multiplier", pair(some("1"), some("1"), None), vec![paid(30, "1")], (CannotTell, MultiplierUnknown)),
        case(
            "no multiplier, yet a list price above ours",
            pair(some("2"), some("1"), None),
            vec![paid(30, "1")],
            (Warning, ListExceeded),
        ),
        case(
            "nothing charged is said",
            pair(some("1"), None, some("1")),
            vec![paid(30, "1")],
            (CannotTell, ChargedUnknown),
        ),
        case(
            "nothing charged is said, yet a list price above ours",
            pair(some("2"), None, some("1")),
            vec![paid(30, "1")],
            (Warning, ListExceeded),
        ),
        case("neither list", pair(None, some("1"), some("1")), vec![], (CannotTell, ListUnknown)),
        case(
            "too little of ours is priced",
            pair(None, some("1"), some("1")),
            vec![paid(30, "0.1"), unpriced(31), unpriced(32)],
            (CannotTell, ListUnknown),
        ),
        case(
            "a real zero multiplier is free",
            pair(some("1"), some("0"), some("0")),
            vec![paid(30, "1")],
            (Ok, AsExpected),
        ),
        case(
            "free, yet charged",
            pair(some("1"), some("0.5"), some("0")),
            vec![paid(30, "1")],
            (Warning, ChargedExceeded),
        ),
        case("idle", pair(some("0"), some("0"), some("1")), vec![], (Ok, Idle)),
        // Bounds.
        case("a tenth more is within tolerance", pair(some("10"), some("11"), some("1")), vec![], (Ok, AsExpected)),
        case(
            "a little above a tenth is not",
            pair(some("10"), some("11.001"), some("1")),
            vec![],
            (Warning, ChargedExceeded),
        ),
        case("a cent is never one", pair(some("0.01"), some("0.02"), some("1")), vec![], (Ok, AsExpected)),
        case("less than said is fine", pair(some("10"), some("5"), some("1")), vec![], (Ok, AsExpected)),
        case(
            "a list a quarter above ours is within tolerance",
            pair(some("10"), some("10"), some("1")),
            vec![paid(30, "7.5")],
            (Ok, AsExpected),
        ),
        case(
            "a list more than that above ours",
            pair(some("10"), some("10"), some("1")),
            vec![paid(30, "7.4")],
            (Warning, ListExceeded),
        ),
        case(
            "a list below ours is fine",
            pair(some("5"), some("5"), some("1")),
            vec![paid(30, "10")],
            (Ok, AsExpected),
        ),
        // Pair by pair.
        case(
            "the snapshot before the window counts",
            vec![snap(-5, some("1"), some("1"), some("1")), snap(30, some("3"), some("5"), some("1"))],
            vec![],
            (Warning, ChargedExceeded),
        ),
        case(
            "one after it does not",
            vec![
                snap(0, some("1"), some("1"), some("1")),
                snap(60, some("2"), some("2"), some("1")),
                snap(70, some("3"), some("9"), some("1")),
            ],
            vec![],
            (Ok, AsExpected),
        ),
        case(
            "a reset spoils its own pair only",
            vec![
                snap(0, some("5"), some("5"), some("1")),
                snap(20, some("6"), some("6"), some("1")),
                snap(40, some("0"), some("0"), some("1")),
                snap(60, some("1"), some("1"), some("1")),
            ],
            vec![],
            (Ok, AsExpected),
        ),
        case(
            "everything reset",
            vec![snap(0, some("5"), some("5"), some("1")), snap(60, some("0"), some("0"), some("1"))],
            vec![],
            (CannotTell, NoUsablePair),
        ),
        case(
            "another key spoils its own pair only",
            keyed(
                vec![
                    snap(0, some("5"), some("5"), some("1")),
                    snap(30, some("9"), some("50"), some("1")),
                    snap(60, some("10"), some("51"), some("1")),
                ],
                1,
                |s| s.key = 2,
            ),
            vec![],
            (Ok, AsExpected),
        ),
        case(
            "another currency spoils its own pair, and only the newest counts",
            keyed(
                vec![
                    snap(0, some("0"), some("0"), some("1")),
                    snap(20, some("1"), some("9"), some("1")),
                    snap(40, some("7"), some("63"), some("1")),
                    snap(60, some("8"), some("64"), some("1")),
                ],
                2,
                |s| s.currency = "CNY".parse().unwrap(),
            ),
            vec![],
            (Ok, AsExpected),
        ),
        case(
            "a multiplier that changed widens the tolerance",
            vec![snap(0, some("0"), some("0"), some("1")), snap(60, some("10"), some("19"), some("2"))],
            vec![],
            (Ok, MultiplierChanged),
        ),
        case(
            "though not without end",
            vec![snap(0, some("0"), some("0"), some("1")), snap(60, some("10"), some("22"), some("2"))],
            vec![],
            (Warning, ChargedExceeded),
        ),
        case(
            "a multiplier that changed between pairs is exact in each",
            vec![
                snap(0, some("0"), some("0"), some("1")),
                snap(20, some("10"), some("10"), some("1")),
                snap(21, some("10"), some("10"), some("3")),
                snap(60, some("20"), some("40"), some("3")),
            ],
            vec![],
            (Ok, AsExpected),
        ),
        // The balance.
        case(
            "a balance that falls as said",
            vec![left(0, some("0"), "20", "1"), left(60, some("5"), "15", "1")],
            vec![],
            (Ok, AsExpected),
        ),
        case(
            "a balance that falls faster",
            vec![left(0, some("0"), "20", "1"), left(60, some("5"), "12", "1")],
            vec![],
            (Warning, ChargedExceeded),
        ),
        case(
            "a top-up spoils its own pair only",
            vec![
                left(0, some("0"), "20", "1"),
                left(20, some("1"), "19", "1"),
                left(40, some("2"), "118", "1"),
                left(60, some("3"), "117", "1"),
            ],
            vec![],
            (Ok, AsExpected),
        ),
        case(
            "other keys may have used up an account's balance",
            keyed(vec![left(0, some("0"), "20", "1"), left(60, some("5"), "12", "1")], 0, |s| {
                s.balance = Scope::Account
            }),
            vec![],
            (CannotTell, TrafficElsewhere),
        ),
        case(
            "an account's list may be other keys'",
            keyed(pair(some("10"), some("10"), some("1")), 0, account),
            vec![paid(30, "1")],
            (CannotTell, TrafficElsewhere),
        ),
        case(
            "an account's charge is still checked against its own list",
            keyed(pair(some("10"), some("15"), some("1")), 0, account),
            vec![paid(30, "1")],
            (Warning, ChargedExceeded),
        ),
        case(
            "more requests than ours on the key",
            {
                let mut two = pair(some("10"), some("10"), some("1"));
                (two[0].requests, two[1].requests) = (Some(100), Some(150));
                two
            },
            vec![paid(30, "1")],
            (CannotTell, TrafficElsewhere),
        ),
        case(
            "as many requests as ours on the key",
            {
                let mut two = pair(some("10"), some("10"), some("1"));
                (two[0].requests, two[1].requests) = (Some(100), Some(101));
                two
            },
            vec![paid(30, "1")],
            (Warning, ListExceeded),
        ),
        // What of ours is missing.
        case(
            "what has no price is extended from what has",
            pair(some("10"), some("10"), some("1")),
            vec![paid(30, "6"), unpriced(31)],
            (Ok, AsExpected),
        ),
        case(
            "a lower bound counts as one",
            pair(None, some("10"), some("1")),
            vec![paid(30, "2"), lower_bound(31, "7")],
            (Ok, AsExpected),
        ),
        case(
            "what ended at the edge may be on either side",
            pair(some("10"), some("10"), some("1")),
            vec![paid(30, "5"), paid(61, "9")],
            (Ok, AsExpected),
        ),
        case(
            "what ended outside is not counted",
            pair(some("10"), some("10"), some("1")),
            vec![paid(30, "5"), paid(90, "9")],
            (Warning, ListExceeded),
        ),
        // Tokens.
        case("tokens as they passed", pair(some("20"), some("20"), some("1")), many(20, "1", "1.2"), (Ok, AsExpected)),
        case(
            "more tokens reported than passed",
            pair(some("20"), some("20"), some("1")),
            many(20, "1", "0.7"),
            (Warning, TokensExceeded),
        ),
        case(
            "a few requests say nothing about tokens",
            pair(some("19"), some("19"), some("1")),
            many(19, "1", "0.7"),
            (Ok, AsExpected),
        ),
    ]
}

#[test]
fn verdicts() {
    for Case { name, snapshots, uses, says } in cases() {
        let c = compare(hour(), &snapshots, &uses, &ByHand::default());
        assert_eq!((c.status, c.reason), says, "{name}: {c:#?}");
    }
    assert!(cases().len() >= 34, "four of the reference and thirty of our own");
}

#[test]
fn the_figures_are_those_of_the_reference() {
    let of = |list, charged, multiplier| {
        compare(hour(), &pair(Some(list), Some(charged), Some(multiplier)), &[], &ByHand::default()).billing.unwrap()
    };
    assert_eq!(of("2.3799", "0.118995", "0.05").deviation, Decimal::ZERO);
    assert_eq!(of("1.318", "0.1714", "0.13").deviation, d("0.00006"));
    let over = of("2.02", "0.35", "0.15");
    assert_eq!((over.expected, over.deviation, over.tolerance), (d("0.3030"), d("0.0470"), d("0.030300")));
    let only_local = compare(hour(), &pair(None, Some("4.96"), Some("1")), &[paid(30, "2.387")], &ByHand::default());
    let billing = only_local.billing.unwrap();
    assert_eq!((billing.basis, billing.list, only_local.list), (Basis::Local, d("2.387"), None));
    assert_eq!(billing.observed_multiplier.unwrap().round_dp(3), d("2.078"));
}

#[test]
fn a_peak_within_a_pair_is_integrated_and_by_spending_where_it_is_known() {
    let time = |h| chrono::NaiveTime::from_hms_opt(h, 30, 0).unwrap();
    let peak = Peak { start: time(0), end: time(1), factor: Decimal::from(3), zone: chrono_tz::UTC };
    let multiplier = Some(Multiplier { base: Decimal::ONE, peak: Some(peak) });
    let with = |charged: &str, uses: &[Use]| {
        let snapshots = keyed(pair(Some("10"), Some(charged), Some("1")), 0, |s| s.multiplier.clone_from(&multiplier));
        compare(hour(), &snapshots, uses, &ByHand::default())
    };
    // Half of the time is peak; when it was spent is unknown.
    let blind = with("20", &[]);
    assert_eq!((blind.billing.unwrap().expected, blind.reason), (d("20"), AsExpected));
    assert!(blind.billing.unwrap().tolerance >= d("10"), "all or nothing of it may have been in the peak");
    // All of it was spent before the peak.
    let early = with("20", &[paid(10, "10")]);
    assert_eq!((early.billing.unwrap().expected, early.reason), (d("10"), ChargedExceeded));
    let late = with("30", &[paid(50, "10")]);
    assert_eq!((late.billing.unwrap().expected, late.reason), (d("30"), AsExpected));
}

#[test]
fn what_was_left_out_and_covered_is_said() {
    let mut three = vec![
        snap(0, Some("5"), Some("5"), Some("1")),
        snap(30, Some("0"), Some("0"), Some("1")),
        snap(60, Some("1"), Some("1"), Some("2")),
    ];
    three[2].remaining = Some(d("3"));
    let uses = [paid(10, "9"), paid(40, "1"), unpriced(45), paid(60, "1"), paid(0, "5")];
    let c = compare(hour(), &three, &uses, &ByHand::default());
    assert_eq!(c.skipped, [(Skip::CounterReset, 1)]);
    assert_eq!((c.snapshots, c.pairs, c.coverage.time), (3, 1, d("0.5")));
    assert_eq!((c.coverage.requests, c.coverage.priced, c.coverage.share), (3, 2, d("0.6667")));
    assert_eq!((c.multiplier, c.multiplier_changed), (Some(d("2")), true));
}

#[test]
fn figures_that_cannot_be_were_not_said() {
    assert_eq!(MOST.to_string(), "1000000000000");
    let c =
        compare(hour(), &pair(Some("79228162514264337593543950335"), Some("1"), Some("1")), &[], &ByHand::default());
    assert_eq!((c.status, c.reason), (CannotTell, ListUnknown));
    let c = compare(hour(), &pair(Some("1"), Some("1"), Some("-1")), &[], &ByHand::default());
    assert_eq!((c.status, c.reason), (CannotTell, MultiplierUnknown));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn whatever_upstreams_say_there_is_a_verdict_and_coverage_is_a_share(
        said in proptest::collection::vec((0..90i64, 0..3u64, say(), say(), say(), say()), 0..12),
        used in proptest::collection::vec((0..90i64, 0..1_000_000i64, 0..3u8), 0..20),
    ) {
        let mut snapshots: Vec<Snapshot> = said
            .iter()
            .map(|(minute, key, list, charged, remaining, multiplier)| Snapshot {
                key: *key,
                list: *list,
                charged: *charged,
                remaining: *remaining,
                multiplier: multiplier.map(Multiplier::flat),
                ..snap(*minute, None, None, None)
            })
            .collect();
        snapshots.sort_by_key(|s| s.at);
        let uses: Vec<Use> = used
            .iter()
            .map(|(minute, amount, kind)| Use {
                at: at(*minute),
                list: (*kind > 0).then(|| Decimal::new(*amount, 4)),
                complete: *kind > 1,
                observed_at_most: None,
            })
            .collect();
        let c = compare(hour(), &snapshots, &uses, &ByHand::default());
        let share = |n: Decimal| Decimal::ZERO <= n && n <= Decimal::ONE;
        proptest::prop_assert!(share(c.coverage.share) && share(c.coverage.time), "{c:?}");
        proptest::prop_assert_eq!(c.status == CannotTell, c.billing.is_none() && c.status != Warning || c.reason == TrafficElsewhere);
    }
}

/// Anything an upstream may say, most of it sensible.
fn say() -> impl proptest::strategy::Strategy<Value = Option<Decimal>> {
    use proptest::prelude::*;
    prop_oneof![
        Just(None),
        (0i64..10_000_000).prop_map(|n| Some(Decimal::new(n, 4))),
        Just(Some(Decimal::MAX)),
        Just(Some(Decimal::MIN)),
        any::<i64>().prop_map(|n| Some(Decimal::new(n, 2))),
        any::<i64>().prop_map(|n| Some(Decimal::new(n, 28))),
    ]
}

#[test]
fn elsewhere_is_an_amount() {
    let mut two = pair(Some("10"), Some("10"), Some("1"));
    two.iter_mut().for_each(|s| s.counters = Scope::Account);
    let c = compare(hour(), &two, &[paid(30, "4")], &ByHand::default());
    assert_eq!(c.elsewhere, Some(d("6")));
}

#[test]
fn what_was_spent_is_what_was_charged_or_the_falls_of_the_balance() {
    let charged = pair(Some("2"), Some("0.5"), Some("1"));
    assert_eq!(spent(hour(), &charged), Some(d("0.5")));
    let falls =
        [left(0, None, "10", "1"), left(20, None, "7", "1"), left(40, None, "17", "1"), left(60, None, "16", "1")];
    assert_eq!(spent(hour(), &falls), Some(d("4")), "a top-up is no spending");
    assert_eq!(spent(hour(), &[snap(0, None, None, Some("1")), snap(60, None, None, Some("1"))]), None);
    assert_eq!(spent(hour(), &[]), None);
}

/// Minute and multiplier; none: taken back.
type Said = (i64, Option<&'static str>);

fn by_hand(sets: &[Said]) -> ByHand {
    ByHand::new(sets.iter().map(|(minute, m)| Set { at: at(*minute), multiplier: m.map(d) }))
}

#[test]
fn each_pair_is_judged_by_the_multiplier_that_was_set_by_hand_at_its_time() {
    // It states 1 and charges 1 in the first half hour, and 2 after a person said so.
    let three = [
        snap(0, Some("0"), Some("0"), Some("1")),
        snap(30, Some("10"), Some("10"), Some("1")),
        snap(60, Some("20"), Some("30"), Some("1")),
    ];
    let cases: [(&str, &[Said], &str, Reason); 6] = [
        ("nobody said anything", &[], "20", ChargedExceeded),
        ("said between the pairs", &[(30, Some("2"))], "30", AsExpected),
        ("said at first", &[(-600, Some("2"))], "40", AsExpected),
        ("said and taken back", &[(-600, Some("2")), (-60, None)], "20", ChargedExceeded),
        ("set for the first half alone", &[(-5, Some("2")), (30, None)], "30", AsExpected),
        // When in that half hour it was spent, nobody knows: either may be right.
        ("said in the middle of the second pair", &[(45, Some("2"))], "25", AsExpected),
    ];
    for (name, sets, due, reason) in cases {
        let c = compare(hour(), &three, &[], &by_hand(sets));
        let billing = c.billing.unwrap();
        assert_eq!((billing.expected, c.reason), (d(due), reason), "{name}");
        let pairs = counted(hour(), &three, &[], &by_hand(sets));
        let sum: Decimal = pairs.iter().map(|pair| pair.list.unwrap() * pair.multiplier.unwrap()).sum();
        assert_eq!(sum, billing.expected, "{name}: the pairs add up to it");
    }
}

#[test]
fn what_was_spent_before_and_after_a_change_by_hand_is_weighed_by_our_own_calls() {
    let two = [snap(0, Some("0"), Some("0"), Some("1")), snap(60, Some("10"), Some("19"), Some("1"))];
    let late = [paid(10, "1"), paid(50, "9")];
    let c = compare(hour(), &two, &late, &by_hand(&[(30, Some("2"))]));
    assert_eq!((c.billing.unwrap().expected, c.reason, c.multiplier_changed), (d("19"), AsExpected, false));
}

#[test]
fn a_persons_word_stands_in_for_what_was_never_stated_even_before_it() {
    let two = [snap(0, Some("0"), Some("0"), None), snap(60, Some("10"), Some("20"), None)];
    let c = compare(hour(), &two, &[], &by_hand(&[(90, Some("2"))]));
    assert_eq!((c.billing.unwrap().expected, c.reason, c.multiplier), (d("20"), AsExpected, Some(d("2"))));
}
