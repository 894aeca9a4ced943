//! A list of prices, and the one that comes with the program.
//!
//! As text a table has a line for each model: its name, a tab, and its rates as `part[>length][@service]=price`.
//! Lines beginning with `#` say where it is from. So its history is legible and it needs no second format in the
//! database.

use std::{collections::BTreeMap, fmt::Write as _, sync::OnceLock};

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::{
    currency::Currency,
    names::{self, Step, Steps, candidates},
    package,
    rates::{Entry, Part, Rate, Service},
};

/// The path segments of those who make the models they sell, in the order in which they are asked for a bare name.
const MAKERS: &[&str] = &[
    "moonshot",
    "deepseek",
    "zai",
    "xai",
    "minimax",
    "dashscope",
    "mistral",
    "gemini",
    "cohere",
    "meta",
    "tencent",
    "volcengine",
    "perplexity",
    "morph",
];

/// The fewest models a published list must have to be taken for one.
const FEWEST: usize = 50;

/// Which list it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Version {
    /// The first twelve digits of the SHA-256 of the source.
    pub id: String,
    /// Where it is from.
    pub source: String,
    /// The day on which it was fetched.
    pub date: NaiveDate,
}

/// Why something is no table.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Not JSON of the expected shape.
    #[error("the price list is not an object of models: {0}")]
    Json(#[from] serde_json::Error),
    /// Too little to be a list.
    #[error("the price list has only {0} usable models")]
    Small(usize),
    /// A line that cannot be read.
    #[error("line {0} of the price table cannot be read")]
    Line(usize),
    /// The lines that say where it is from.
    #[error("the price table does not say where it is from")]
    Head,
}

/// A model's entry, found under some name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match<'t> {
    /// The table's name for it.
    pub name: &'t str,
    /// Its prices.
    pub entry: &'t Entry,
    /// What had to be done to the name asked for; nothing: it is the table's.
    pub steps: Steps,
}

/// A list of prices.
#[derive(Debug, Clone)]
pub struct Table {
    version: Version,
    /// Sorted by name.
    entries: Vec<(Box<str>, Entry)>,
    /// Lower-case names → place, where that is not the name.
    folded: BTreeMap<Box<str>, usize>,
    /// Names without their date → place of the newest.
    undated: BTreeMap<Box<str>, usize>,
    /// Names without their maker → place.
    bare: BTreeMap<Box<str>, usize>,
}

impl Table {
    fn new(version: Version, entries: BTreeMap<String, Entry>) -> Self {
        let entries: Vec<(Box<str>, Entry)> = entries.into_iter().map(|(name, e)| (name.into(), e)).collect();
        let (mut folded, mut undated, mut bare) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (at, (name, _)) in entries.iter().enumerate() {
            let lower = name.to_lowercase();
            if *lower != **name {
                folded.entry(lower.clone().into_boxed_str()).or_insert(at);
            }
            if let Some(front) = names::undated(&lower).filter(|_| !lower.contains('/')) {
                // Sorted by name, so the newest date comes last.
                undated.insert(front.into(), at);
            }
        }
        for maker in MAKERS {
            for (at, (name, _)) in entries.iter().enumerate() {
                if let Some((front, rest)) = name.split_once('/')
                    && front == *maker
                    && !rest.contains('/')
                {
                    bare.entry(rest.to_lowercase().into_boxed_str()).or_insert(at);
                }
            }
        }
        Self { version, entries, folded, undated, bare }
    }

    /// Reduces a published list; `source` says where it is from.
    ///
    /// # Errors
    /// It is not such a list.
    pub fn from_package(json: &[u8], source: &str, date: NaiveDate) -> Result<Self, TableError> {
        let entries = package::read(json)?;
        if entries.len() < FEWEST {
            return Err(TableError::Small(entries.len()));
        }
        let digest = Sha256::digest(json);
        let mut id = String::new();
        for byte in digest.iter().take(6) {
            let _ = write!(id, "{byte:02x}");
        }
        let source: String = source.chars().filter(|c| !c.is_control()).take(300).collect();
        Ok(Self::new(Version { id, source, date }, entries))
    }

    /// Reads what [`Self::to_text`] wrote.
    ///
    /// # Errors
    /// The line that is wrong.
    pub fn from_text(text: &str) -> Result<Self, TableError> {
        let (mut id, mut source, mut date) = (None, None, None);
        let mut entries = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            if let Some(note) = line.strip_prefix('#') {
                match note.trim().split_once(": ") {
                    Some(("version", text)) => id = Some(text.to_owned()),
                    Some(("source", text)) => source = Some(text.to_owned()),
                    Some(("date", text)) => date = text.parse().ok(),
                    _ => {}
                }
            } else if !line.is_empty() {
                let (name, rates) = line.split_once('\t').ok_or(TableError::Line(at + 1))?;
                entries.insert(name.to_owned(), read_rates(rates).ok_or(TableError::Line(at + 1))?);
            }
        }
        let (Some(id), Some(source), Some(date)) = (id, source, date) else { return Err(TableError::Head) };
        Ok(Self::new(Version { id, source, date }, entries))
    }

    /// The table as text.
    pub fn to_text(&self) -> String {
        let Version { id, source, date } = &self.version;
        let mut text = format!("# version: {id}\n# source: {source}\n# date: {date}\n");
        for (name, entry) in &self.entries {
            let _ = write!(text, "{name}\t");
            if entry.currency != Currency::USD {
                let _ = write!(text, "{} ", entry.currency);
            }
            for (n, Rate { part, service, above, price }) in entry.rates.iter().enumerate() {
                let space = if n == 0 { "" } else { " " };
                let _ = write!(text, "{space}{part}");
                if *above > 0 {
                    let _ = write!(text, ">{above}");
                }
                if *service != Service::Standard {
                    let _ = write!(text, "@{service}");
                }
                let _ = write!(text, "={price}");
            }
            text.push('\n');
        }
        text
    }

    /// The one that comes with the program, read when it is first asked for.
    pub fn embedded() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| {
            // A test reads it; should it ever be unreadable all the same, nothing has a price.
            Self::from_text(include_str!("../data/prices.tsv")).unwrap_or_else(|_| {
                let version = Version { id: String::new(), source: String::new(), date: NaiveDate::default() };
                Self::new(version, BTreeMap::new())
            })
        })
    }

    /// Which list it is.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// How many models it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every model in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(name, entry)| (&**name, entry))
    }

    /// The entry of exactly this name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.at(self.place(name)?).map(|(_, entry)| entry)
    }

    /// The entry of a model, under whatever name it goes (see [`crate::names`]). An exact name always wins.
    pub fn find(&self, name: &str) -> Option<Match<'_>> {
        let candidates = candidates(name);
        let most = candidates.last().map_or(0, |c| c.steps.len());
        for steps in 0..=most + 1 {
            // A longer name of the table loses nothing of the one asked for: it goes before leaving something out.
            for candidate in candidates.iter().filter(|c| c.steps.len() + 1 == steps) {
                if let Some((place, step)) = self.added(&candidate.name) {
                    return self.matched(place, &candidate.steps, Some(step));
                }
            }
            for candidate in candidates.iter().filter(|c| c.steps.len() == steps) {
                if let Some(place) = self.place(&candidate.name) {
                    return self.matched(place, &candidate.steps, None);
                }
                if let Some(place) = self.folded.get(&*candidate.name) {
                    let case = (!candidate.steps.contains(&Step::Case)).then_some(Step::Case);
                    return self.matched(*place, &candidate.steps, case);
                }
            }
        }
        None
    }

    fn added(&self, name: &str) -> Option<(usize, Step)> {
        let maker = self.bare.get(name).map(|place| (*place, Step::VendorAdded));
        maker.or_else(|| self.undated.get(name).map(|place| (*place, Step::DateAdded)))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.entries.binary_search_by(|(own, _)| (**own).cmp(name)).ok()
    }

    fn at(&self, place: usize) -> Option<(&str, &Entry)> {
        self.entries.get(place).map(|(name, entry)| (&**name, entry))
    }

    fn matched(&self, place: usize, steps: &Steps, more: Option<Step>) -> Option<Match<'_>> {
        let (name, entry) = self.at(place)?;
        let mut steps = steps.clone();
        steps.extend(more);
        Some(Match { name, entry, steps })
    }
}

fn read_rates(text: &str) -> Option<Entry> {
    let mut currency = Currency::USD;
    let mut rates = Vec::new();
    for word in text.split(' ') {
        let Some((what, price)) = word.split_once('=') else {
            currency = word.parse().ok()?;
            continue;
        };
        let (what, service) = match what.split_once('@') {
            Some((what, service)) => (what, service.parse::<Service>().ok()?),
            None => (what, Service::Standard),
        };
        let (part, above) = match what.split_once('>') {
            Some((part, above)) => (part, above.parse().ok()?),
            None => (what, 0),
        };
        rates.push(Rate { part: part.parse::<Part>().ok()?, service, above, price: price.parse().ok()? });
    }
    Some(Entry { currency, rates })
}
