//! The description of the admin API that the pages' client is generated from is that of this program.

use std::path::Path;

/// After a change of the API: `HEADGATE_WRITE=1 cargo test -p headgate-tests --test openapi`, then `npm run generate`.
#[test]
fn the_pages_know_this_api() {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap();
    let path = Path::new(&package).join("../ui/openapi.json");
    let now = serde_json::to_value(headgate_gateway::openapi()).unwrap();
    if std::env::var_os("HEADGATE_WRITE").is_some() {
        std::fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&now).unwrap())).unwrap();
    }
    let kept: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert!(kept == now, "ui/openapi.json is stale; see this test for how it is renewed");
}
