#![allow(missing_docs)]
use clap::Parser;
#[derive(Parser)]
struct A {
    #[command(flatten)]
    c: donjon_flow::command::CostArguments,
}
fn main() -> anyhow::Result<()> {
    donjon_flow::command::print_costs(&A::parse().c)
}
