//! The program `mercer`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    mercer_cli::main()
}
