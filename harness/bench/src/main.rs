//! Measures the suite as a whole: `cargo run --release -p xs2aspec-bench -- table FILE`.

mod memory;
mod proxy;
mod sandbox;
mod section;
mod servers;
mod table;

use std::{io, process::ExitCode, time::Duration};

const USAGE: &str = "xs2aspec-bench, one of:
  results FILE        run both of the following
  table FILE          write the table at the beginning of a Markdown file; needs `xs2aspec` next to this
                      binary, on an idle machine
  sandbox FILE        measure depths on a slow bank with a rate limit, and write a section of the file
  section FILE NAME   write the standard input to a section of the file
  memory N [PER]      write the record and all reports of N generated exchanges, PER in each case (100)
  count STEP ROUNDS   run a step ROUNDS times, for a tool that counts instructions; without STEP, list the steps
  proxy N             send N payments to the reference bank with and without the proxy in turn: p50 and p99
  serve               start a server that checks nothing, and print its address
  raw URL JOBS SECS   measure the maximum of the suite's HTTP client: requests per second";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match done(&words) {
        Ok(said) => {
            #[expect(clippy::print_stdout, reason = "the output of the program")]
            {
                println!("{said}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "the output of the program")]
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
