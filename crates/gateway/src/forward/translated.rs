//! The answer of an upstream of another protocol, up to the commit boundary: its first output in the client's own.

use headgate_domain::{Class, Failure};
use headgate_routing::classify;
use headgate_wire::{observe::End, translate::Translator};

use super::{
    opening::Waiting,
    receive::{Failed, Ready, Rest, Terms, as_broken, timed},
    source::Source,
    watch::Watch,
};
use crate::{clock::Clock, exchange::Attempt};

/// Reads until the client can be given something.
pub async fn receive(
    mut source: Source,
    mut translator: Box<Translator>,
    terms: &Terms<'_>,
    clock: Clock,
    attempt: &mut Attempt,
    waiting: &mut Option<Waiting>,
) -> Result<Ready, Failed> {
    if terms.counts {
        translator.keep_text();
    }
    let first = if terms.stream { terms.first_work } else { terms.whole };
    let fail = |failure: Failure, translator: Box<Translator>, empty: Option<Vec<u8>>, source: &Source| {
        Err(Failed {
            failure,
            watch: Some(Box::new(Watch::Translated(translator))),
            empty: empty.map(Into::into),
            events: terms.stream,
            bytes: source.bytes,
        })
    };
    loop {
        let worked = translator.seen().work && terms.stream;
        let limit = if worked { clock.now() + terms.idle } else { first };
        let reading = timed(&mut source, clock, limit, terms);
        let read = match waiting {
            Some(waiting) => waiting.during(&mut translator, reading).await,
            None => reading.await,
        };
        let out = match read {
            Ok(Some(chunk)) => translator.push(chunk),
            Ok(None) => translator.finish(),
            Err(failure) => {
                attempt.tripped = failure.class == Class::SlowFirst && terms.unadapted && !worked;
                let silent = failure.class == Class::SlowFirst && worked;
                let failure = if silent {
                    Failure::new(Class::Stalled, "the upstream fell silent inside its stream")
                } else {
                    failure
                };
                return fail(failure, translator, None, &source);
            }
        };
        match translator.end() {
            None if out.is_empty() => continue,
            Some(End::Empty) => {
                let failure = Failure::new(Class::Empty, "the upstream's answer has no content");
                return fail(failure, translator, Some(out), &source);
            }
            Some(End::Cut) if source.bytes == 0 => {
                let failure = Failure::new(Class::Empty, "the upstream's answer has no bytes");
                return fail(failure, translator, None, &source);
            }
            Some(End::Cut) => {
                return fail(cut(), translator, None, &source);
            }
            // Output that came with the error in one chunk was given out: from there on it is the client's stream.
            Some(End::Failed(error)) if out.is_empty() => {
                return fail(as_broken(classify(&error)), translator, None, &source);
            }
            None | Some(End::Complete | End::Failed(_)) => {
                if terms.stream {
                    attempt.ttft.get_or_insert(clock.now().since(terms.started));
                }
                let whole = matches!(translator.end(), Some(End::Complete));
                // A connection whose last bytes are read can serve again.
                let rest = (terms.stream || !whole).then_some(Rest::Translated(source));
                let watch = Watch::Translated(translator);
                return Ok(Ready { watch, held: vec![out.into()], rest, events: terms.stream });
            }
        }
    }
}

/// The upstream's answer ended before it was complete.
pub fn cut() -> Failure {
    Failure::new(Class::Cut, "the upstream's stream ended without its completion event")
}
