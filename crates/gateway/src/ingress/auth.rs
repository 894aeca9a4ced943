//! Access keys: looked up by their keyed hash, compared in constant time; wrong ones are answered ever more slowly.

use std::{collections::HashMap, net::IpAddr, sync::Arc, time::Duration};

use headgate_domain::{KeyId, Secret, key::KeyHash};
use headgate_routing::Time;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, header};
use parking_lot::Mutex;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::Peer;
use crate::{
    shared::Shared,
    snapshot::{Key, Snapshot},
};

pub(crate) fn hmac(pepper: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let mut mac = match Hmac::<Sha256>::new_from_slice(pepper) {
        Ok(mac) => mac,
        // HMAC takes keys of any length.
        Err(_) => return [0; 32],
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// The hash of an access key.
pub fn hash_key(pepper: &[u8; 32], key: &Secret) -> KeyHash {
    KeyHash(hmac(pepper, &[key.expose().as_bytes()]))
}

/// A session's number and its form in records; sessions of different keys never meet.
pub fn session_hash(pepper: &[u8; 32], key: KeyId, session: &str) -> (u64, String) {
    let hash = hmac(pepper, &[b"session", &key.0.to_le_bytes(), session.as_bytes()]);
    let mut first = [0; 8];
    first.copy_from_slice(hash.first_chunk::<8>().unwrap_or(&[0; 8]));
    let number = u64::from_be_bytes(first);
    (number, format!("{number:016x}"))
}

/// A new random access key.
pub fn generate_key() -> Result<Secret, getrandom::Error> {
    random_token("hg-")
}

/// A new random token that begins so: 192 random bits.
pub fn random_token(prefix: &str) -> Result<Secret, getrandom::Error> {
    use base64::Engine as _;
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes)?;
    Ok(Secret::new(format!("{prefix}{}", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes))))
}

/// The keys a request shows: `Authorization: Bearer` first, then `x-api-key`.
fn shown(headers: &HeaderMap) -> impl Iterator<Item = Secret> + '_ {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok()).and_then(|text| {
        let (scheme, token) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token)
    });
    let api_key = headers.get("x-api-key").and_then(|v| v.to_str().ok());
    [bearer, api_key].into_iter().flatten().map(|key| Secret::new(key.trim()))
}

/// The key a request shows, if it is valid now. A wrong one has waited for its answer.
pub async fn authenticate(
    shared: &Shared,
    snapshot: &Snapshot,
    headers: &HeaderMap,
    peer: Peer,
) -> Result<Arc<Key>, &'static str> {
    let now = shared.clock.wall();
    let mut message = "no access key; send 'authorization: Bearer hg-…' or 'x-api-key: hg-…'";
    for secret in shown(headers) {
        let hash = hash_key(&shared.pepper, &secret);
        match snapshot.keys.get_key_value(&hash) {
            Some((known, key)) if bool::from(known.0.ct_eq(&hash.0)) => {
                if key.spec.is_valid_at(now) {
                    return Ok(Arc::clone(key));
                }
                message = "this access key is switched off or has expired";
            }
            _ => message = "this access key is not known here",
        }
    }
    shared.invalid_keys.brake(peer.remote.ip(), shared.now()).await;
    Err(message)
}

/// How often each address has shown an invalid key lately.
#[derive(Default)]
pub struct InvalidKeys(Mutex<HashMap<IpAddr, (u32, Time)>>);

/// Addresses remembered.
const REMEMBERED: usize = 4096;
/// An address is forgiven after so long.
const FORGIVEN: Duration = Duration::from_secs(60);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(2);

impl InvalidKeys {
    /// Notes an invalid key of an address, and waits the longer the more there were.
    pub async fn brake(&self, address: IpAddr, now: Time) {
        let wait = self.strike(address, now);
        tokio::time::sleep(wait).await;
    }

    /// Notes an invalid key of an address; gives how long its answer waits.
    fn strike(&self, address: IpAddr, now: Time) -> Duration {
        let mut all = self.0.lock();
        if all.len() >= REMEMBERED {
            all.retain(|_, (_, last)| now.since(*last) < FORGIVEN);
        }
        if all.len() >= REMEMBERED && !all.contains_key(&address) {
            return LONGEST;
        }
        let (strikes, last) = all.entry(address).or_insert((0, now));
        if now.since(*last) >= FORGIVEN {
            *strikes = 0;
        }
        *strikes = strikes.saturating_add(1);
        *last = now;
        Duration::from_millis(50).saturating_mul(1 << (*strikes - 1).min(6)).min(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_keys_are_answered_ever_more_slowly_and_forgiven() {
        let strikes = InvalidKeys::default();
        let ip: IpAddr = "127.0.0.1".parse().unwrap();
        let waits: Vec<u128> = (0..8).map(|n| strikes.strike(ip, Time(Duration::from_secs(n))).as_millis()).collect();
        assert_eq!(waits, [50, 100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(strikes.strike(ip, Time(Duration::from_secs(100))).as_millis(), 50);
        for n in 0..10_000u32 {
            strikes.strike(IpAddr::from(n.to_be_bytes()), Time(Duration::from_secs(100)));
        }
        assert!(strikes.0.lock().len() <= REMEMBERED);
    }

    #[test]
    fn generated_keys_have_the_form_of_keys() {
        headgate_domain::key::check_secret(generate_key().unwrap().expose()).unwrap();
    }
}
