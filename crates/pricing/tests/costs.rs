//! What usages cost, by hand and as universal rules; and what the prices that come with the program hold.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::disallowed_methods, reason = "a test")]

use headgate_domain::Usage;
use headgate_pricing::{
    Cost, Currency, Entry, Gap, Part, Rate, Service, Table, cost,
    names::Step::{self, *},
};
use proptest::prelude::*;
use rust_decimal::Decimal;

fn d(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn usage(fresh: u64, read: u64, write_5m: u64, write_1h: u64, output: u64) -> Usage {
    Usage {
        fresh: Some(fresh),
        read: Some(read),
        write_5m: Some(write_5m),
        write_1h: Some(write_1h),
        output: Some(output),
        ..Usage::default()
    }
}

fn of(model: &str, usage: &Usage, service: Service) -> Cost {
    cost(Table::embedded().get(model).unwrap(), usage, service).unwrap()
}

#[test]
fn worked_cases() {
    for (model, usage, service, total) in [
        ("claude-sonnet-4-5", usage(1000, 0, 0, 0, 500), Service::Standard, "0.0105"),
        ("claude-sonnet-4-5", usage(100, 20_000, 1000, 2000, 500), Service::Standard, "0.02955"),
        ("claude-sonnet-4-5", usage(1000, 0, 0, 0, 500), Service::Batch, "0.00525"),
        ("gpt-5", usage(40, 60, 0, 0, 7), Service::Standard, "0.0001275"),
        ("gpt-5", usage(40, 60, 0, 0, 7), Service::Priority, "0.000255"),
        ("gpt-5.4", usage(200_000, 72_000, 0, 0, 1000), Service::Standard, "0.533"),
        ("gpt-5.4", usage(200_000, 72_001, 0, 0, 1000), Service::Standard, "1.0585005"),
        ("gemini-2.5-pro", usage(200_000, 0, 0, 0, 0), Service::Standard, "0.25"),
        ("gemini-2.5-pro", usage(200_001, 0, 0, 0, 0), Service::Standard, "0.5000025"),
    ] {
        let cost = of(model, &usage, service);
        assert_eq!((cost.total(), cost.is_complete()), (d(total), true), "{model} {usage:?} {service}");
    }
}

#[test]
fn a_cache_write_of_unknown_life_costs_that_of_five_minutes() {
    let with =
        |write_5m, write_other| Usage { write_5m, write_other, fresh: Some(1), output: Some(1), ..Usage::default() };
    let model = "claude-sonnet-4-5";
    let cost = |u| of(model, &u, Service::Standard).write;
    assert_eq!(cost(with(Some(30), None)), cost(with(None, Some(30))));
    assert_eq!(cost(with(Some(10), Some(20))), d("0.0001125"));
}

#[test]
fn what_is_missing_is_named_and_never_zero() {
    let plain = Entry::plain(Currency::USD, Decimal::ONE, Decimal::TWO);
    assert_eq!(cost(&plain, &Usage::default(), Service::Standard), None);
    let found = cost(&plain, &usage(10, 5, 0, 7, 10), Service::Standard).unwrap();
    assert_eq!(found.gaps.as_slice(), [Gap::NoPrice(Part::Read), Gap::NoPrice(Part::WriteHour)]);
    assert_eq!(found.total(), d("0.00003"));
    let half = Usage { fresh: Some(10), ..Usage::default() };
    assert_eq!(cost(&plain, &half, Service::Standard).unwrap().gaps.as_slice(), [Gap::NotReported(Part::Output)]);
    let other = Usage { output: Some(10), ..Usage::default() };
    assert_eq!(cost(&plain, &other, Service::Standard).unwrap().gaps.as_slice(), [Gap::NotReported(Part::Fresh)]);
}

#[test]
fn reasoning_with_its_own_price_is_not_paid_twice() {
    let entry = Entry::plain(Currency::USD, Decimal::ONE, Decimal::from(10)).with(Part::Reasoning, Decimal::from(20));
    let usage = Usage { reasoning: Some(400_000), ..usage(0, 0, 0, 0, 1_000_000) };
    let found = cost(&entry, &usage, Service::Standard).unwrap();
    assert_eq!((found.output, found.reasoning), (Decimal::from(6), Decimal::from(8)));
    let nonsense = Usage { reasoning: Some(5_000_000), ..usage };
    assert_eq!(cost(&entry, &nonsense, Service::Standard).unwrap().total(), Decimal::from(20));
}

#[test]
fn a_request_may_have_a_price_of_its_own() {
    let entry = Entry::plain(Currency::USD, Decimal::ZERO, Decimal::ZERO).with(Part::Request, d("0.005"));
    assert_eq!(cost(&entry, &usage(1, 0, 0, 0, 1), Service::Standard).unwrap().total(), d("0.005"));
}

#[test]
fn the_embedded_table_is_whole() {
    let table = Table::embedded();
    assert!(table.len() > 3000, "{}", table.len());
    assert_eq!(table.version().id.len(), 12);
    let again = Table::from_text(&table.to_text()).unwrap();
    assert_eq!(again.to_text(), table.to_text());
    for (name, entry) in table.iter() {
        assert_eq!(entry.check(), Ok(()), "{name}");
        assert_eq!(table.find(name).unwrap().name, name, "exact always wins");
        assert!(table.find(name).unwrap().steps.is_empty());
    }
    let began = std::time::Instant::now();
    let _ = Table::from_text(&table.to_text());
    println!("written and read in {:?}", began.elapsed());
    let text = table.to_text();
    let began = std::time::Instant::now();
    let _ = std::hint::black_box(Table::from_text(&text));
    println!("read in {:?}", began.elapsed());
    let (entry, used) = (table.get("claude-sonnet-4-5").unwrap(), usage(100, 20_000, 1000, 2000, 500));
    let began = std::time::Instant::now();
    for _ in 0..1000 {
        let _ = std::hint::black_box(cost(std::hint::black_box(entry), &used, Service::Standard));
    }
    println!("a cost in {:?}", began.elapsed() / 1000);
    let began = std::time::Instant::now();
    for _ in 0..1000 {
        let _ = std::hint::black_box(table.find(std::hint::black_box("vendor/claude-sonnet-4-5-20991231-thinking")));
    }
    println!("a search in {:?}", began.elapsed() / 1000);
}

#[test]
fn models_are_found_under_the_names_people_give_them() {
    for (asked, name, steps) in [
        ("claude-sonnet-4-5", "claude-sonnet-4-5", &[][..]),
        ("Claude-Sonnet-4-5", "claude-sonnet-4-5", &[Case]),
        ("claude-sonnet-4.5", "claude-sonnet-4-5", &[Punctuation]),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5", &[Punctuation, VendorPrefix]),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", &[ContextMark]),
        ("claude-sonnet-4-5-20250929-thinking", "claude-sonnet-4-5-20250929", &[Thinking]),
        ("claude-sonnet-4-5-20991231", "claude-sonnet-4-5", &[Date]),
        ("claude-sonnet-4-5-latest", "claude-sonnet-4-5", &[Latest]),
        ("models/gemini-2.5-pro", "gemini-2.5-pro", &[ModelsPrefix]),
        ("gpt-5-high", "gpt-5", &[Effort]),
        ("some-relay/openai/gpt-5-2099-01-31", "gpt-5", &[VendorPrefix, VendorPrefix, Date]),
        ("glm-4.6", "zai/glm-4.6", &[VendorAdded]),
    ] {
        let found = Table::embedded().find(asked).unwrap_or_else(|| panic!("{asked}"));
        assert_eq!((found.name, found.steps.as_slice()), (name, steps as &[Step]), "{asked}");
    }
    for unknown in ["", "no-such-model", "claude", "gpt", "my-own-model-high"] {
        assert!(Table::embedded().find(unknown).is_none(), "{unknown}");
    }
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let rate = (0..8usize, 0..3u32, 0u32..100_000).prop_map(|(part, tier, price)| Rate {
        part: Part::ALL[part],
        service: Service::Standard,
        above: tier * 100_000,
        price: Decimal::new(price.into(), 3),
    });
    proptest::collection::vec(rate, 1..12).prop_map(|mut rates: Vec<Rate>| {
        rates.sort_by_key(|r| (r.part, r.above));
        rates.dedup_by_key(|r| (r.part, r.above));
        Entry { currency: Currency::USD, rates }
    })
}

fn any_usage() -> impl Strategy<Value = Usage> {
    let n = || proptest::option::of(0u64..400_000);
    (n(), n(), n(), n(), n(), n(), n()).prop_map(|(fresh, read, write_5m, write_1h, write_other, output, reasoning)| {
        Usage { fresh, read, write_5m, write_1h, write_other, output, reasoning, ..Usage::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_total_is_the_sum_of_its_parts_and_never_negative(entry in any_entry(), usage in any_usage()) {
        let Some(cost) = cost(&entry, &usage, Service::Standard) else {
            prop_assert!(!usage.is_reported());
            return Ok(());
        };
        let parts = [cost.fresh, cost.read, cost.write, cost.write_hour, cost.output, cost.reasoning, cost.request];
        prop_assert!(parts.iter().all(|p| !p.is_sign_negative()));
        prop_assert_eq!(parts.iter().sum::<Decimal>(), cost.total());
    }

    #[test]
    fn more_output_never_costs_less(entry in any_entry(), usage in any_usage(), more in 0u64..100_000) {
        let larger = Usage { output: Some(usage.output.unwrap_or(0) + more), ..usage };
        let total = |u: &Usage| cost(&entry, u, Service::Standard).map(|c| c.total()).unwrap_or_default();
        // Reasoning cheaper than output does not turn into output.
        prop_assert!(total(&larger) >= total(&usage) || usage.output.is_none() && usage.reasoning.is_some());
    }

    #[test]
    fn within_a_length_costs_grow_with_input(entry in any_entry(), fresh in 0u64..99_000, more in 0u64..1_000) {
        let total = |n| cost(&entry, &usage(n, 0, 0, 0, 1), Service::Standard).map(|c| c.total()).unwrap_or_default();
        prop_assert!(total(fresh + more) >= total(fresh));
    }

    #[test]
    fn an_edge_of_length_belongs_to_the_shorter(price in 1u32..1000, dearer in 1u32..1000, above in 1u32..400_000) {
        let mut entry = Entry::plain(Currency::USD, price.into(), Decimal::ONE);
        entry.rates.push(Rate { part: Part::Fresh, service: Service::Standard, above, price: (price + dearer).into() });
        let of = |n: u64| cost(&entry, &usage(n, 0, 0, 0, 1), Service::Standard).unwrap().fresh / Decimal::from(n);
        prop_assert_eq!(of(u64::from(above)) * Part::Fresh.per(), Decimal::from(price));
        prop_assert_eq!((of(u64::from(above) + 1) * Part::Fresh.per()).round_dp(6), Decimal::from(price + dearer));
    }

    #[test]
    fn any_name_is_looked_for_without_end_or_fault(name in "\\PC{0,40}") {
        let once = Table::embedded().find(&name).map(|m| (m.name.to_owned(), m.steps.clone()));
        prop_assert_eq!(once, Table::embedded().find(&name).map(|m| (m.name.to_owned(), m.steps.clone())));
    }
}
