//! Reading the price list that a well-known package publishes as JSON: one object per model, a field per price, in
//! dollars per token. Only what [`Part`] knows is kept; prices by the second, pixel or search are not.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use crate::{
    currency::Currency,
    rates::{Entry, Part, Rate, Service},
};

/// Field names without their length and service.
fn part(field: &str) -> Option<Part> {
    Some(match field {
        "input_cost_per_token" => Part::Fresh,
        "output_cost_per_token" => Part::Output,
        "cache_read_input_token_cost" => Part::Read,
        "cache_creation_input_token_cost" => Part::Write,
        "cache_creation_input_token_cost_above_1hr" => Part::WriteHour,
        "output_cost_per_reasoning_token" => Part::Reasoning,
        "input_cost_per_image_token" => Part::ImageInput,
        "output_cost_per_image_token" => Part::ImageOutput,
        "input_cost_per_audio_token" => Part::AudioInput,
        "output_cost_per_audio_token" => Part::AudioOutput,
        "output_cost_per_image" => Part::Image,
        "input_cost_per_request" => Part::Request,
        _ => return None,
    })
}

/// Takes part, service and length out of a field's name: `…_above_200k_tokens_batches`.
fn meaning(field: &str) -> Option<(Part, Service, u32)> {
    let (rest, service) = [("_batches", Service::Batch), ("_flex", Service::Flex), ("_priority", Service::Priority)]
        .into_iter()
        .find_map(|(suffix, service)| field.strip_suffix(suffix).map(|rest| (rest, service)))
        .unwrap_or((field, Service::Standard));
    let length = |rest: &str| {
        let (front, thousands) = rest.strip_suffix("k_tokens")?.rsplit_once("_above_")?;
        Some((part(front)?, service, thousands.parse::<u32>().ok()?.checked_mul(1000)?))
    };
    length(rest).or_else(|| part(rest).map(|part| (part, service, 0)))
}

fn price(part: Part, value: &Value) -> Option<Decimal> {
    let text = value.as_number()?.to_string();
    let each = text.parse::<Decimal>().or_else(|_| Decimal::from_scientific(&text)).ok()?;
    let price = each.checked_mul(part.per())?.round_dp(12).normalize();
    (!price.is_sign_negative() || price.is_zero()).then_some(price)
}

fn entry(model: &Map<String, Value>) -> Option<Entry> {
    let mut rates: Vec<Rate> = model
        .iter()
        .filter_map(|(field, value)| {
            let (part, service, above) = meaning(field)?;
            Some(Rate { part, service, above, price: price(part, value)? })
        })
        .collect();
    // Some makers' lengths are given as a list of ranges.
    let ranges = model.get("tiered_pricing").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for range in ranges.iter().filter_map(Value::as_object) {
        let from = range.get("range").and_then(|r| r.get(0)).and_then(Value::as_f64).unwrap_or(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of tokens; the cast saturates"
        )]
        let above = from as u32;
        for (field, value) in range {
            let Some(part) = part(field) else { continue };
            let Some(price) = price(part, value) else { continue };
            if !rates.iter().any(|r| (r.part, r.service, r.above) == (part, Service::Standard, above)) {
                rates.push(Rate { part, service: Service::Standard, above, price });
            }
        }
    }
    // Nothing but zeros mostly means that nobody filled it in, and never that an answer cost nothing to whoever sold it.
    if rates.iter().all(|r| r.price.is_zero()) {
        return None;
    }
    rates.sort_by_key(|r| (r.service, r.above, r.part));
    let entry = Entry { currency: Currency::USD, rates };
    entry.check().is_ok().then_some(entry)
}

/// The entries of a published list.
pub(crate) fn read(json: &[u8]) -> Result<BTreeMap<String, Entry>, serde_json::Error> {
    let models: BTreeMap<String, Value> = serde_json::from_slice(json)?;
    let usable = |name: &str| !name.is_empty() && name.len() <= 200 && !name.contains(['\t', '\n', '\r']);
    Ok(models
        .into_iter()
        .filter(|(name, _)| usable(name) && name != "sample_spec")
        .filter_map(|(name, model)| Some((name, entry(model.as_object()?)?)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_tell_part_length_and_service() {
        let of = |field| meaning(field);
        assert_eq!(of("input_cost_per_token"), Some((Part::Fresh, Service::Standard, 0)));
        assert_eq!(
            of("output_cost_per_token_above_272k_tokens_priority"),
            Some((Part::Output, Service::Priority, 272_000))
        );
        assert_eq!(of("cache_creation_input_token_cost_above_1hr"), Some((Part::WriteHour, Service::Standard, 0)));
        assert_eq!(
            of("cache_creation_input_token_cost_above_1hr_above_200k_tokens"),
            Some((Part::WriteHour, Service::Standard, 200_000))
        );
        for other in [
            "output_cost_per_second",
            "input_cost_per_token_ultrafast",
            "max_tokens",
            "cache_creation_input_token_cost_above_12hr",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn a_list_is_reduced_to_prices_per_million() {
        let list = read(
            br#"{"sample_spec":{"input_cost_per_token":1.0},
                "m":{"input_cost_per_token":3e-06,"output_cost_per_token":1.5e-05,"cache_read_input_token_cost":1.3e-07,"mode":"chat"},
                "free":{"input_cost_per_token":0,"output_cost_per_token":0.0},
                "odd":{"input_cost_per_token":"dear"},
                "tiers":{"tiered_pricing":[{"input_cost_per_token":5e-08,"range":[0,256000.0]},{"input_cost_per_token":2.5e-07,"range":[256000.0,1000000.0]}]}}"#,
        )
        .unwrap();
        assert_eq!(list.keys().collect::<Vec<_>>(), ["m", "tiers"]);
        let at = |name: &str, part, input| list[name].rate(part, Service::Standard, input).unwrap().to_string();
        assert_eq!([at("m", Part::Fresh, 1), at("m", Part::Output, 1), at("m", Part::Read, 1)], ["3", "15", "0.13"]);
        assert_eq!([at("tiers", Part::Fresh, 256_000), at("tiers", Part::Fresh, 256_001)], ["0.05", "0.25"]);
    }
}
