//! Real runs of the program: what it writes, what it says, how it ends.

mod program;
mod fit;
mod systems;
mod extractors;
mod transform;
mod inspect;
mod compare;
mod advise;
mod methods;
mod demo;
mod complete;
mod memory;
mod checkpoint;
mod shell;
mod refusals;
