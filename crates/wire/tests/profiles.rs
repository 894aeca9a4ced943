//! The published table of profiles is made from the data.

use headgate_wire::profile;

#[test]
fn the_table_in_docs_is_that_of_the_data() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/profiles.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (begin, end) = ("<!-- made from the data: begin -->\n", "<!-- made from the data: end -->\n");
    let (head, rest) = text.split_once(begin).unwrap();
    let (table, tail) = rest.split_once(end).unwrap();
    let made = profile::markdown();
    if table != made && std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, format!("{head}{begin}{made}{end}{tail}")).unwrap();
        return;
    }
    assert_eq!(table, made, "run this test with UPDATE_DOCS=1 to write the table");
}
