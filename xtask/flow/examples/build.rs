#![allow(missing_docs)]
use clap::Parser;
#[derive(Parser)]
struct A {
    #[command(flatten)]
    c: donjon_flow::command::BuildArguments,
}
fn main() -> anyhow::Result<()> {
    donjon_flow::command::build_program(&A::parse().c)
}
