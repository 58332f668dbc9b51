//! The programs in `examples/` run, and what they assert holds.

#[path = "../../examples/basis_and_map.rs"]
mod basis_and_map;
#[path = "../../examples/comparison.rs"]
mod comparison;
#[path = "../../examples/own_kernel.rs"]
mod own_kernel;
#[path = "../../examples/partitions.rs"]
mod partitions;
#[path = "../../examples/streaming.rs"]
mod streaming;
#[path = "../../examples/takes.rs"]
mod takes;

#[test]
fn every_example_runs() {
    basis_and_map::main().expect("basis_and_map");
    takes::main().expect("takes");
    comparison::main().expect("comparison");
    streaming::main().expect("streaming");
    own_kernel::main().expect("own_kernel");
    partitions::main().expect("partitions");
}
