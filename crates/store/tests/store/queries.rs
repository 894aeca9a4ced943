use std::{fs, path::Path};

use crate::support;

#[tokio::test]
async fn every_committed_statement_fits_the_schema() {
    let database = support::database().await;
    let folder = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../.sqlx");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let content: serde_json::Value = serde_json::from_str(&fs::read_to_string(entry.path()).unwrap()).unwrap();
        let statement = content["query"].as_str().unwrap().to_owned();
        let prepared = sqlx::Executor::prepare(
            database.pool(),
            sqlx::SqlSafeStr::into_sql_str(sqlx::AssertSqlSafe(statement.clone())),
        )
        .await;
        assert!(prepared.is_ok(), "{statement}\n{:?}", prepared.err());
        seen += 1;
    }
    assert!(seen > 10);
}
