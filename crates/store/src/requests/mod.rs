//! Reading the requests: the filtered list, one request, figures over a filter, the values to filter by.

mod calls;
mod filter;
mod list;
mod recorded;
mod stats;
mod sums;
mod traffic;

pub use calls::{Calls, Compared};
pub use filter::{BadFilter, Cursor, Filter, StatusWord, TokensWord, Unnamed};
pub use list::{Item, ListError, Page, Paging, RouteStep};
pub use recorded::{Recorded, Traffic};
pub use stats::{Amount, Options, Spend, Stats};
pub use traffic::{LastUse, Pace, Point, Share};

/// The path of token counting: its rows are listed, but are no work of an upstream and so in no figure.
const COUNTING: &str = "/v1/messages/count_tokens";
