//! Real runs of the program: its files, its messages and its exit codes.

mod program;
mod fit;
mod tables;
mod targets;
mod systems;
mod extractors;
mod transform;
mod select;
mod predict;
mod export;
mod inspect;
mod compare;
mod advise;
mod methods;
mod demo;
mod device;
mod complete;
mod memory;
mod limits;
mod checkpoint;
mod shell;
mod refusals;
mod weights;
mod fuzz;
