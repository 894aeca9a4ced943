//! What the targets check: the same that the tests of the translation check.

#[path = "../../crates/wire/tests/translation/driver.rs"]
#[expect(dead_code, reason = "shared with tests that use more of it")]
mod driver;
#[path = "../../crates/wire/tests/translation/invariants.rs"]
pub mod invariants;
#[path = "../../crates/wire/tests/translation/legal.rs"]
mod legal;
#[path = "../../crates/wire/tests/translation/normal.rs"]
#[expect(dead_code, reason = "shared with tests that use more of it")]
mod normal;
#[path = "../../crates/wire/tests/translation/oracle.rs"]
mod oracle;
#[path = "../../crates/wire/tests/translation/produced.rs"]
mod produced;
