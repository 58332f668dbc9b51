//! The programs in `examples/` run, and what they assert holds.

#[path = "../../../mercer/examples/basis_and_map.rs"]
mod basis_and_map;
#[path = "../../../mercer/examples/comparison.rs"]
mod comparison;
#[path = "../../../mercer/examples/own_kernel.rs"]
mod own_kernel;
#[path = "../../../mercer/examples/partitions.rs"]
mod partitions;
#[path = "../../../mercer/examples/streaming.rs"]
mod streaming;
#[path = "../../../mercer/examples/takes.rs"]
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
