use headgate_domain::Name;

use super::*;
use crate::prices::PriceBook;

const G: GroupId = GroupId(1);

fn member(id: i64, multiplier: Option<i64>) -> PoolMember {
    let multiplier = multiplier.map(|tenths| Decimal::new(tenths, 1));
    PoolMember { multiplier, ..PoolMember::new(UpstreamId(id), headgate_domain::UpstreamKind::Passthrough) }
}

fn group(members: Vec<PoolMember>) -> Group {
    Group {
        id: G,
        name: Name::new("coding").unwrap(),
        pool: Pool { members, ..Pool::new(G) },
        budget: None,
        strict: false,
        queue: headgate_domain::group::Queue::default(),
        aliases: HashMap::new(),
        endpoints: Vec::new(),
    }
}

fn traffic(upstream: i64, model: &str, cost: i64) -> Traffic {
    Traffic {
        group: Some(G),
        upstream: UpstreamId(upstream),
        model: Some(model.to_owned()),
        sent: Some(model.to_owned()),
        currency: Some("USD".to_owned()),
        cost: cost.into(),
        attempts: 10,
        answered: 9,
        tokens_fresh: 10_000,
        tokens_read: 0,
        tokens_write: 0,
        tokens_output: 1000,
    }
}

fn told(group: &Group, traffic: &[Traffic]) -> GroupElsewhere {
    let book = PriceBook::default();
    let now = book.now();
    let prices = Prices { prices: &now, at: "2026-11-30T00:00:00Z".parse().unwrap() };
    let own: Vec<_> = traffic.iter().collect();
    let multiplier = |id| group.pool.members.iter().find(|m| m.upstream == id).and_then(factor);
    of_group(group, &own, &prices, &success(traffic), multiplier).unwrap()
}

#[test]
fn the_same_list_price_at_each_members_multiplier_the_cheapest_first() {
    let group = group(vec![member(1, Some(12)), member(2, Some(5)), member(3, None)]);
    let all = [traffic(1, "claude-sonnet-4-5", 8), traffic(2, "claude-haiku-4-5", 2)];
    let told = told(&group, &all);
    assert_eq!((told.was.list, told.was.charged), (Decimal::TEN, Decimal::new(106, 1)));
    let order: Vec<_> = told.members.iter().map(|m| (m.upstream_id.0, m.priced.charged)).collect();
    assert_eq!(order, [(2, Decimal::from(5)), (3, Decimal::TEN), (1, Decimal::from(12))]);
    assert!(told.members[1].priced.multiplier_unknown && !told.members[0].priced.multiplier_unknown);
    assert_eq!((told.members[0].success, told.members[1].success), (Some(0.9), None));
    for (parts, whole) in told.members.iter().map(|m| (&m.parts, &m.priced)).chain([(&told.was_parts, &told.was)]) {
        let sum: Decimal = parts.iter().map(|part| part.priced.charged).sum();
        assert_eq!((sum, parts.iter().map(|part| part.attempts).sum::<i64>()), (whole.charged, told.attempts));
    }
    assert_eq!(told.members[0].parts[0].price.as_deref(), Some("claude-sonnet-4-5"));
}

#[test]
fn a_member_that_may_not_be_asked_for_a_model_is_told_by_what_it_could_have_served() {
    let mut second = member(2, Some(1));
    second.models.allow = vec!["claude-haiku-*".to_owned()];
    let group = group(vec![member(1, Some(10)), second]);
    let told = told(&group, &[traffic(1, "claude-sonnet-4-5", 8), traffic(1, "claude-haiku-4-5", 2)]);
    assert_eq!(told.members[0].upstream_id, UpstreamId(1), "the other cannot serve all of it");
    assert!((told.members[1].share - 0.2).abs() < 1e-9);
    assert_eq!(told.members[1].priced.list, Decimal::TWO);
}

#[test]
fn another_model_under_the_name_is_priced_as_what_it_is() {
    let mut second = member(2, Some(10));
    second.models.map = [("claude-sonnet-4-5".to_owned(), "claude-haiku-4-5".to_owned())].into_iter().collect();
    let group = group(vec![member(1, Some(10)), second]);
    let told = told(&group, &[traffic(1, "claude-sonnet-4-5", 9)]);
    // Sonnet 3 and 15, Haiku 1 and 5: a third.
    assert_eq!((told.members[0].upstream_id, told.members[0].priced.list), (UpstreamId(2), Decimal::from(3)));
}

#[test]
fn a_model_without_a_price_of_today_costs_what_it_was_stamped_with() {
    let group = group(vec![member(1, Some(10)), member(2, Some(5))]);
    let told = told(&group, &[traffic(1, "no-such-model", 8)]);
    assert_eq!((told.members[0].upstream_id, told.members[0].priced.charged), (UpstreamId(2), Decimal::from(4)));
}

#[test]
fn what_is_priced_in_another_currency_is_left_out() {
    let group = group(vec![member(1, Some(10))]);
    let foreign = Traffic { currency: Some("CNY".to_owned()), ..traffic(1, "x", 3) };
    let unpriced = Traffic { currency: None, cost: Decimal::ZERO, ..traffic(1, "y", 0) };
    let told = told(&group, &[traffic(1, "claude-sonnet-4-5", 9), foreign, unpriced]);
    assert_eq!((told.currency.as_str(), told.was.list, told.attempts), ("USD", Decimal::from(9), 10));
}
