//! The document's section about the window, which has a date of its own.

use super::super::{
    document::{occasion, tables},
    report::Report,
};

/// Its heading.
pub const HEADING: &str = "## With the window open";

const METHOD: &str = "\
`cargo xtask bench window` measures this and writes this section; it is not part of the whole run, for it needs a virtual
display. Seven rounds, in each of which direct, `headgate serve` alone, `headgate-desktop` with its window open on the
overview and `headgate-desktop --hidden` are measured, beginning with another form each time: started, left alone for four
seconds, looked at for ten seconds of rest, then asked 200 times a second for eight. Both programs are built with the same
profile, and each form keeps its own database from round to round. Times of the web view are those of WebKit's processes;
those of PostgreSQL are told apart from the gateway's. A program that is started hidden makes no web view before somebody
opens it, so that its share is nothing by construction; what the figure shows is that none is made.

This machine has no graphics card: the open window is drawn by the same two processors that answer, store and ask, and what
it takes from them is seen in the slowest hundredth of the requests.
";

/// All of it.
pub fn text(report: &Report) -> String {
    format!("{HEADING}\n\n{}{}\n{METHOD}\n", occasion(report), tables(&report.window))
}
