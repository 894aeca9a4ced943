//! The fake upstream as a program: `fake-upstream --port 8901`; `POST /__script` replaces its fault script.

use clap::Parser;
use headgate_tests::fake::Fake;

/// A fake upstream that speaks all three protocols.
#[derive(Parser)]
struct Args {
    /// Port on 127.0.0.1; 0 for a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let fake = Fake::on(([127, 0, 0, 1], Args::parse().port).into()).await;
    println!("fake upstream on {}", fake.url());
    tokio::signal::ctrl_c().await.unwrap();
}
