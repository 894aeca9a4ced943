use super::{Difference::*, *};

fn at(second: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_780_000_000 + second, 0).unwrap()
}

fn d(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn tokens(fresh: u64, read: u64, output: u64) -> Usage {
    Usage { fresh: Some(fresh), read: Some(read), output: Some(output), ..Usage::default() }
}

fn charge(second: i64, usage: Usage) -> Charge {
    Charge {
        id: format!("c{second}"),
        at: at(second),
        model: "m".to_owned(),
        request_id: None,
        key: None,
        usage,
        list: Some(d("0.01")),
        charged: d("0.002"),
        multiplier: Some(d("0.2")),
    }
}

fn request(second: i64, usage: Usage) -> Request {
    Request {
        id: format!("r{second}"),
        attempt: 1,
        began: at(second - 5),
        ended: at(second),
        model: "m".to_owned(),
        upstream_request_id: None,
        usage,
        list: Some(d("0.01")),
        complete: true,
        price_entry: None,
        price_version: None,
        multiplier: Some(d("0.2")),
    }
}

/// Couples of charge and request, then what is left on our side and on theirs.
type Shape = (Vec<(usize, usize, Match)>, Vec<usize>, Vec<usize>);

fn told(charges: &[Charge], requests: &[Request]) -> Shape {
    let Matched { couples, ours, theirs } = match_up(charges, requests);
    (couples.into_iter().map(|c| (c.charge, c.request, c.by)).collect(), ours, theirs)
}

#[test]
fn charges_find_their_requests() {
    let u = tokens(100, 0, 10);
    let named = |second, usage, id: &str| Charge { request_id: Some(id.to_owned()), ..charge(second, usage) };
    let known =
        |second, usage, id: &str| Request { upstream_request_id: Some(id.to_owned()), ..request(second, usage) };
    let of = |model: &str, second| Charge { model: model.to_owned(), ..charge(second, u) };
    let silent = |second| Request { usage: Usage::default(), list: None, complete: false, ..request(second, u) };
    let by = Match::Tokens;
    type Case = (&'static str, Vec<Charge>, Vec<Request>, Shape);
    let cases: Vec<Case> = vec![
        (
            "the same tokens at the same time",
            vec![charge(0, u)],
            vec![request(1, u)],
            (vec![(0, 0, by)], vec![], vec![]),
        ),
        ("within the skew", vec![charge(0, u)], vec![request(120, u)], (vec![(0, 0, by)], vec![], vec![])),
        ("beyond the skew", vec![charge(0, u)], vec![request(121, u)], (vec![], vec![0], vec![0])),
        (
            "an id decides over time and tokens",
            vec![named(0, u, "x")],
            vec![request(0, u), known(900, tokens(7, 0, 7), "x")],
            (vec![(0, 1, Match::Id)], vec![0], vec![]),
        ),
        (
            "an id that two have decides nothing",
            vec![named(0, u, "x"), named(10, u, "x")],
            vec![known(0, u, "x"), known(10, u, "x")],
            (vec![(0, 0, by), (1, 1, by)], vec![], vec![]),
        ),
        (
            "duplicates are matched one to one, nearest first",
            vec![charge(0, u), charge(1, u), charge(2, u)],
            vec![request(0, u), request(2, u)],
            (vec![(0, 0, by), (2, 1, by)], vec![], vec![1]),
        ),
        (
            "a retry that was charged too has its own charge",
            vec![charge(0, u), charge(9, u)],
            vec![request(0, u), Request { attempt: 2, ..request(9, u) }],
            (vec![(0, 0, by), (1, 1, by)], vec![], vec![]),
        ),
        (
            "equal tokens go before nearness",
            vec![charge(0, u)],
            vec![request(0, tokens(90, 0, 10)), request(60, u)],
            (vec![(0, 1, by)], vec![0], vec![]),
        ),
        (
            "inflated tokens are matched by the rest",
            vec![charge(0, tokens(160, 0, 16))],
            vec![request(3, u)],
            (vec![(0, 0, Match::Time)], vec![], vec![]),
        ),
        (
            "what has nothing in common but the minute is not",
            vec![charge(0, tokens(9_000, 0, 900))],
            vec![request(3, u)],
            (vec![], vec![0], vec![0]),
        ),
        (
            "without usage the time decides",
            vec![charge(0, u)],
            vec![silent(4)],
            (vec![(0, 0, Match::Time)], vec![], vec![]),
        ),
        ("another model is another request", vec![of("n", 0)], vec![request(0, u)], (vec![], vec![0], vec![0])),
        (
            "names of one model are one",
            vec![of("vendor/M", 0)],
            vec![request(0, u)],
            (vec![(0, 0, by)], vec![], vec![]),
        ),
        ("nothing at all", vec![], vec![], (vec![], vec![], vec![])),
    ];
    for (name, charges, requests, expected) in cases {
        assert_eq!(told(&charges, &requests), expected, "{name}");
    }
}

#[test]
fn the_order_in_which_things_are_given_changes_nothing() {
    let u = tokens(100, 0, 10);
    let mut charges: Vec<Charge> = (0..6).map(|n| charge(n * 7, u)).collect();
    let mut requests: Vec<Request> = (0..6).map(|n| request(n * 7 + 2, u)).collect();
    let pairs = |charges: &[Charge], requests: &[Request]| -> Vec<(String, String)> {
        let name = |c: Couple| (charges[c.charge].id.clone(), requests[c.request].id.clone());
        match_up(charges, requests).couples.into_iter().map(name).collect()
    };
    let forward = pairs(&charges, &requests);
    assert_eq!(forward.len(), 6);
    charges.reverse();
    requests.reverse();
    assert_eq!(pairs(&charges, &requests), forward);
}

#[test]
fn what_a_charge_differs_in_is_named() {
    let ours = tokens(100, 1000, 50);
    let differ = |charge: Charge, request: Request| {
        let mut matched = match_up(&[charge], &[request]);
        matched.couples.remove(0).differences
    };
    let plain = || charge(0, ours);
    assert_eq!(differ(plain(), request(0, ours)), []);
    assert_eq!(differ(charge(0, tokens(160, 1600, 80)), request(0, ours)), [TokensExceeded]);
    let few = Charge { usage: tokens(101, 1000, 51), ..plain() };
    assert_eq!(differ(few, request(0, ours)), [], "both sides may count a few differently");
    let as_fresh = Charge { usage: tokens(1100, 0, 50), list: Some(d("0.03")), charged: d("0.006"), ..plain() };
    assert_eq!(differ(as_fresh, request(0, ours)), [CachedAsFresh], "the list price follows from it");
    let dear = Charge { list: Some(d("0.014")), charged: d("0.0028"), ..plain() };
    assert_eq!(differ(dear.clone(), request(0, ours)), [ListExceeded]);
    assert_eq!(differ(dear, Request { complete: false, ..request(0, ours) }), [], "a lower bound proves nothing");
    let applied = Charge { charged: d("0.0025"), multiplier: Some(d("0.25")), ..plain() };
    assert_eq!(differ(applied.clone(), request(0, ours)), [MultiplierExceeded]);
    assert_eq!(differ(applied, Request { multiplier: None, ..request(0, ours) }), []);
    let rounded = Charge { charged: d("0.002002"), ..plain() };
    assert_eq!(differ(rounded, request(0, ours)), []);
}
