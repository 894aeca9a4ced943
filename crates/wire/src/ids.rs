//! Names and ids made legal for an upstream, the same way every time, never two of them alike.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use sha2::{Digest, Sha256};

/// The first `digits` hexadecimal digits of the SHA-256 of `text`.
pub(crate) fn digest(text: &str, digits: usize) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let mut hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.truncate(digits);
    hex
}

/// What an upstream accepts as an id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Legal {
    /// Most characters.
    pub(crate) max: usize,
    /// Only letters, digits, `_` and `-`.
    pub(crate) plain: bool,
}

impl Legal {
    /// Tool names, everywhere.
    pub(crate) const NAME: Self = Self { max: 64, plain: true };

    fn char(c: char) -> bool {
        c.is_ascii_alphanumeric() || c == '_' || c == '-'
    }

    fn accepts(self, id: &str) -> bool {
        // Most ids are short, so that counting bytes first saves counting characters.
        let short = id.len() <= self.max || id.chars().count() <= self.max;
        short && !id.is_empty() && (!self.plain || id.chars().all(Self::char))
    }

    /// The legal form of an id on its own.
    pub(crate) fn form(self, id: &str) -> String {
        if self.accepts(id) { id.to_owned() } else { self.rewrite(id, 0) }
    }

    /// Illegal characters become `_`, the front is cut, and a digest of the original is appended.
    fn rewrite(self, id: &str, salt: usize) -> String {
        let source = if salt == 0 { Cow::Borrowed(id) } else { Cow::Owned(format!("{id}#{salt}")) };
        let front = id.chars().map(|c| if Self::char(c) { c } else { '_' }).take(self.max - 9);
        let mut out: String = front.collect();
        out.push('_');
        out.push_str(&digest(&source, 8));
        out
    }
}

/// Legal forms of the ids of one request.
#[derive(Debug)]
pub(crate) struct IdMap {
    legal: Legal,
    forms: HashMap<String, String>,
    taken: HashSet<String>,
}

impl IdMap {
    /// A map for `ids`; those already legal keep their form.
    pub(crate) fn new<'i>(legal: Legal, ids: impl Iterator<Item = &'i str> + Clone) -> Self {
        let illegal = ids.clone().any(|id| !legal.accepts(id));
        let mut map = Self { legal, forms: HashMap::new(), taken: HashSet::new() };
        if illegal {
            // Only then can a rewritten id meet one that is legal as it is.
            map.taken = ids.clone().filter(|id| legal.accepts(id)).map(str::to_owned).collect();
            for id in ids.filter(|id| !legal.accepts(id)) {
                map.form(id);
            }
        }
        map
    }

    fn form(&mut self, id: &str) {
        if self.forms.contains_key(id) {
            return;
        }
        let free = (0..).map(|salt| self.legal.rewrite(id, salt)).find(|form| !self.taken.contains(form));
        let form = free.unwrap_or_default();
        self.taken.insert(form.clone());
        self.forms.insert(id.to_owned(), form);
    }

    /// The form of one of the ids the map was made for.
    pub(crate) fn get(&self, id: String) -> String {
        if self.forms.is_empty() { id } else { self.forms.get(&id).cloned().unwrap_or(id) }
    }
}

/// Ids that the gateway makes for parts of one answer; all derive from one seed, so nothing here is random.
#[derive(Debug, Clone)]
pub struct Seed(String);

impl Seed {
    /// A seed from a request id and the number of the attempt: what is not a letter or digit is left out.
    pub fn new(request_id: &str) -> Self {
        Self(request_id.chars().filter(char::is_ascii_alphanumeric).take(32).collect())
    }

    /// `prefix` and the seed: the id of the whole answer.
    pub fn whole(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.0)
    }

    /// `prefix`, the seed's last 16 characters and `number`: the id of a part, at most 40 characters.
    pub fn part(&self, prefix: &str, number: u32) -> String {
        let tail = self.0.get(self.0.len().saturating_sub(16)..).unwrap_or_default();
        format!("{prefix}{tail}_{number}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legal_id_is_kept_and_two_ids_never_become_one() {
        let legal = Legal { max: 64, plain: true };
        let clash = legal.rewrite("a:b", 0);
        let ids = ["ok-1", "a:b", "a.b", clash.as_str()];
        let map = IdMap::new(legal, ids.iter().copied());
        let forms: HashSet<String> = ids.iter().map(|id| map.get((*id).to_owned())).collect();
        assert_eq!(forms.len(), 4);
        assert!(forms.contains("ok-1") && forms.contains(&clash));
        assert!(forms.iter().all(|f| legal.accepts(f)), "{forms:?}");
    }

    #[test]
    fn a_long_id_is_cut_at_the_front_part() {
        let legal = Legal { max: 40, plain: false };
        let long = "call_".to_owned() + &"x".repeat(60);
        let map = IdMap::new(legal, [long.as_str()].into_iter());
        let form = map.get(long.clone());
        assert_eq!(form.len(), 40);
        assert!(form.starts_with("call_xxx") && form.ends_with(&digest(&long, 8)));
        assert_eq!(
            IdMap::new(legal, ["functions.Bash:0"].into_iter()).get("functions.Bash:0".into()),
            "functions.Bash:0"
        );
    }
}
