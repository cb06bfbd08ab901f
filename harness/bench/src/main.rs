//! Measures the suite as a whole: `cargo run --release -p xs2aspec-bench -- table FILE`.

mod memory;
mod proxy;
mod sandbox;
mod section;
mod servers;
mod table;

use std::{io, process::ExitCode, time::Duration};

const USAGE: &str = "xs2aspec-bench, one of:
  results FILE        both of the following, one after the other
  table FILE          the whole table, in Markdown, into the beginning of this file: with `xs2aspec` beside this
                      binary, on an idle machine
  sandbox FILE        what choices of cases take and find on a slow bank with a limit, into a section of this file
  section FILE NAME   writes the standard input into the section of this name of this file
  memory N [PER]      puts N generated exchanges, PER in each case (100), through the record and all reports
  count STEP ROUNDS   carries a step out so often, for a tool that counts its instructions; without STEP lists the steps
  proxy N             N payments to the reference bank with and without the proxy between, in turn: p50 and p99
  serve               a server that checks nothing; prints its address
  raw URL JOBS SECS   what the client of the suite can do at most: requests per second";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match done(&words) {
        Ok(said) => {
            #[expect(clippy::print_stdout, reason = "it is what this is for")]
            {
                println!("{said}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "it is what this is for")]
            {
                eprintln!("{error}");
            }
            ExitCode::from(2)
        }
    }
}

fn done(words: &[&str]) -> Result<String, String> {
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("{text}: {error}"));
    match words {
        ["results", path] => Ok([table::table(path)?, sandbox::sandbox(path)?].join("\n\n")),
        ["table", path] => table::table(path),
        ["sandbox", path] => sandbox::sandbox(path),
        ["section", path, name] => {
            let text = io::read_to_string(io::stdin()).map_err(|error| error.to_string())?;
            section::write(path, name, &text).map(|()| String::new())
        }
        ["memory", count] => memory::memory(number(count)?, 100),
        ["memory", count, per_case] => memory::memory(number(count)?, number(per_case)?),
        ["count"] => Ok(xs2aspec_bench::STEPS.map(|(name, _)| name).join("\n")),
        ["count", name, rounds] => {
            let mut step = xs2aspec_bench::step(name)?;
            (0..number(rounds)?).for_each(|_| step());
            Ok(String::new())
        }
        ["proxy", count] => proxy::proxy(number(count)?.max(1)),
        ["serve"] => servers::serve(),
        ["raw", url, jobs, seconds] => {
            let seconds = Duration::from_secs(number(seconds)? as u64);
            servers::raw(url, number(jobs)?, seconds).map(|rate| format!("{rate:.0}"))
        }
        _ => Err(USAGE.to_owned()),
    }
}
