//! The program `mercer`.

#![forbid(unsafe_code)]

use mercer::allocator::Guarded;

/// An allocation that fails ends the program in words.
#[global_allocator]
static ALLOCATOR: Guarded = Guarded::ending(
    "hint: set the budget (`--memory`) below the limit, use fewer threads (`--threads`), or fewer rows, columns or components",
);

fn main() -> std::process::ExitCode {
    mercer_cli::main()
}
