//! The table of the whole: the rates of runs next to the maximum rates, measured within the same minute.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader, ErrorKind, Read as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    section,
    servers::{HEADERS, PATH, PAYMENT, VALUE},
};

/// Cases of one measurement.
const CASES: usize = 20_000;
/// Duration of a measurement of the client alone, in seconds.
const SECONDS: &str = "3";

pub(crate) fn wrong(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A server that ends when this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(program: &Path, arguments: &[&str]) -> Result<Self, String> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("no output")?;
        BufReader::new(out).read_line(&mut line).map_err(wrong)?;
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap_or_default();
        Ok(Self { child, url: url.trim_end_matches(['.', ',']).to_owned() })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The things to measure: this program, the suite, and cases of two kinds.
struct Bench {
    own: PathBuf,
    suite: PathBuf,
    folder: TempDir,
}

/// Returns the path of the suite, which is next to this program.
pub(crate) fn suite() -> Result<PathBuf, String> {
    let suite = std::env::current_exe().map_err(wrong)?.with_file_name("xs2aspec");
    if suite.is_file() {
        return Ok(suite);
    }
    Err(format!("cannot find {}: build it with `cargo build --release`", suite.display()))
}

impl Bench {
    fn new() -> Result<Self, String> {
        let own = std::env::current_exe().map_err(wrong)?;
        let suite = suite()?;
        let folder = TempDir::new().map_err(wrong)?;
        let rows = |count: usize| (0..count).map(|row| row.to_string()).collect::<Vec<_>>().join(", ");
        let unsigned = "      - remove: header/Signature\n      - remove: header/TPP-Signature-Certificate\n";
        for (name, change) in [("signed", ""), ("unsigned", unsigned)] {
            let area = folder.path().join(name).join("bench");
            fs::create_dir_all(&area).map_err(wrong)?;
            let text = format!(
                "title: the baseline payment, many times\ncases:\n  - {{clause: ncbct.path, name: plain, baseline: ncbct, expect: accepted}}\n  \
                 - clause: ncbct.path\n    axes:\n      a: {{values: [{}]}}\n      b: {{values: [{}]}}\n    baseline: ncbct\n    change:\n{change}      \
                 - set: body/endToEndIdentification\n        to: E${{a}}x${{b}}\n    control: ncbct.path/plain\n    expect: accepted\n",
                rows(100),
                rows(CASES / 100)
            );
            fs::write(area.join("many.yaml"), text).map_err(wrong)?;
        }
        Ok(Self { own, suite, folder })
    }

    /// Returns the requests per second of the client alone.
    fn raw(&self, url: &str, jobs: &str) -> Result<f64, String> {
        let output = Command::new(&self.own).args(["raw", url, jobs, SECONDS]).output().map_err(wrong)?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        said.parse().map_err(|_| format!("raw: {said}{}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Returns the requests per second of `wrk`, which only counts responses, or None if it is not installed.
    fn wrk(&self, url: &str, jobs: &str) -> Result<Option<f64>, String> {
        let mut script = format!("wrk.method = \"POST\"\nwrk.body = [[{PAYMENT}]]\n");
        for name in HEADERS {
            let _ = writeln!(script, "wrk.headers[\"{name}\"] = \"{VALUE}\"");
        }
        let path = self.folder.path().join("post.lua");
        fs::write(&path, script).map_err(wrong)?;
        let url = format!("{url}{PATH}");
        let output =
            Command::new("wrk").args(["-t1", "-c", jobs, "-d", SECONDS, "-s"]).arg(path).arg(url).output();
        let Ok(output) = output else { return Ok(None) };
        let said = String::from_utf8_lossy(&output.stdout);
        let rate = said.lines().find_map(|line| line.strip_prefix("Requests/sec:")?.trim().parse().ok());
        rate.map(Some).ok_or_else(|| format!("wrk: {said}{}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Returns the requests per second of Hurl, which checks as many places of each response as the suite
    /// does, or None if it is not installed.
    fn hurl(&self, url: &str, jobs: &str) -> Result<Option<f64>, String> {
        let mut script = format!("POST {url}{PATH}\n");
        for name in HEADERS {
            let value = if *name == *"content-type" { "application/json" } else { VALUE };
            let _ = writeln!(script, "{name}: {value}");
        }
        let _ = writeln!(
            script,
            "{PAYMENT}\nHTTP 201\n[Asserts]\nheader \"content-type\" == \"application/json\""
        );
        for (place, check) in [
            ("paymentId", "isString"),
            ("paymentId", "matches /^.{1,36}$/"),
            ("transactionStatus", "matches /^(RCVD|ACTC|PDNG)$/"),
            ("transactionFees.currency", "matches /^[A-Z]{3}$/"),
            ("transactionFees.amount", "matches /^[0-9]+\\.[0-9]{2}$/"),
            ("transactionFeeIndicator", "isBoolean"),
            ("_links.self.href", "isString"),
            ("_links.self.verbs", "isCollection"),
            ("_links.status.href", "isString"),
            ("_links.status.verbs", "isCollection"),
        ] {
            let _ = writeln!(script, "jsonpath \"$.{place}\" {check}");
        }
        let path = self.folder.path().join("post.hurl");
        fs::write(&path, script).map_err(wrong)?;
        let begun = Instant::now();
        let repeat = CASES.to_string();
        let output = Command::new("hurl")
            .args(["--test", "--no-color", "--parallel", "--jobs", jobs, "--repeat", &repeat])
            .arg(path)
            .output();
        let Ok(output) = output else { return Ok(None) };
        if !output.status.success() {
            return Err(format!("hurl: {}", String::from_utf8_lossy(&output.stderr)));
        }
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let rate = CASES as f64 / begun.elapsed().as_secs_f64();
        Ok(Some(rate))
    }

    /// Returns the cases per second of a run with all checks and reports: while it sends, and in total.
    fn suite(&self, cases: &str, url: &str, jobs: &str) -> Result<(f64, f64), String> {
        let begun = Instant::now();
        let output = Command::new(&self.suite)
            .args(["run", "--quiet", "--target", url, "--jobs", jobs, "--cases"])
            .arg(self.folder.path().join(cases))
            .arg("--out")
            .arg(self.folder.path().join("out"))
            .output()
            .map_err(wrong)?;
        let took = begun.elapsed();
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            return Err(format!("{cases} against {url}: {said}{}", String::from_utf8_lossy(&output.stderr)));
        }
        let line = said.lines().find(|line| line.ends_with("cases per second")).unwrap_or_default();
        let rate = line.rsplit(", ").next().and_then(|words| words.split(' ').next()?.parse().ok());
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let whole = (CASES + 1) as f64 / took.as_secs_f64();
        Ok((rate.ok_or_else(|| format!("no rate: {said}"))?, whole))
    }

    /// Returns the shortest time of several runs with the reference bank.
    fn shortest(&self, arguments: &[&str], times: usize) -> Result<Duration, String> {
        let mut shortest = Duration::MAX;
        for _ in 0..times {
            let begun = Instant::now();
            let out = self.folder.path().join("out");
            let output =
                Command::new(&self.suite).args(arguments).arg("--out").arg(&out).output().map_err(wrong)?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into_owned());
            }
            shortest = shortest.min(begun.elapsed());
        }
        Ok(shortest)
    }

    /// Returns the time from the start of the process to the first byte of its first request.
    fn first_exchange(&self) -> Result<Duration, String> {
        let mut shortest = Duration::MAX;
        for _ in 0..10 {
            let listener = TcpListener::bind("127.0.0.1:0").map_err(wrong)?;
            listener.set_nonblocking(true).map_err(wrong)?;
            let url = format!("http://{}", listener.local_addr().map_err(wrong)?);
            let begun = Instant::now();
            // The previous run was killed and may have created something.
            let mut child = Command::new(&self.suite)
                .args(["run", "--quiet", "--force", "--target", &url, "--only", "ncbct.path", "--out"])
                .arg(self.folder.path().join("first"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(wrong)?;
            // The first connection only checks that the server is there.
            loop {
                let mut stream = match listener.accept() {
                    Ok((stream, _)) => stream,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        if let Some(status) = child.try_wait().map_err(wrong)? {
                            return Err(format!("the run ended before it sent anything: {status}"));
                        }
                        std::thread::sleep(Duration::from_micros(100));
                        continue;
                    }
                    Err(error) => return Err(wrong(error)),
                };
                stream.set_nonblocking(false).map_err(wrong)?;
                if stream.read(&mut [0]).map_err(wrong)? == 1 {
                    break;
                }
            }
            shortest = shortest.min(begun.elapsed());
            drop(listener);
            child.kill().map_err(wrong)?;
            child.wait().map_err(wrong)?;
        }
        Ok(shortest)
    }
}

/// Returns the microseconds of a step, single-threaded.
fn micros(name: &str) -> Result<f64, String> {
    let mut step = xs2aspec_bench::step(name)?;
    let mut best = f64::MAX;
    for _ in 0..20 {
        let begun = Instant::now();
        (0..100).for_each(|_| step());
        best = best.min(begun.elapsed().as_secs_f64() * 10_000.0);
    }
    Ok(best)
}

/// Measures everything, and writes it as Markdown before the sections of the file.
pub(crate) fn table(path: &str) -> Result<String, String> {
    let bench = Bench::new()?;
    let mut text = String::from(
        "# Results\n\nMade by `cargo run --release -p xs2aspec-bench -- table harness/bench/RESULTS.md`, client and server on the same processors.\nRates are exchanges per \
         second; each row was measured within one minute.\n\n",
    );
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (sign, verify) = (micros("sign, RSA-2048")?, micros("verify, RSA-2048")?);
    #[expect(clippy::cast_precision_loss, reason = "a few processors")]
    let bound = processors as f64 * 1e6 / (sign + verify);
    let _ = writeln!(
        text,
        "Signing takes {sign:.0} us and verifying {verify:.0} us (RSA-2048, single-threaded): on {processors} processors at most {bound:.0} \
         exchanges per second.\n"
    );
    let minimal = Server::start(&bench.own, &["serve"])?;
    let bank = Server::start(&bench.suite, &["serve"])?;
    text += "| in flight | wrk, unsigned | Hurl, unsigned | client alone, unsigned | suite, unsigned | of the client | of Hurl | whole run | suite, signed, same server | of the bound | of Hurl, unsigned | suite, signed, reference bank | of the bound | whole run |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    let shown = |rate: Option<f64>| rate.map_or("not installed".to_owned(), |rate| format!("{rate:.0}"));
    let of =
        |rate: f64, other: Option<f64>| other.map_or("?".to_owned(), |other| format!("{:.2}", rate / other));
    for jobs in ["1", "4", "16", "64", "256"] {
        let wrk = shown(bench.wrk(&minimal.url, jobs)?);
        let hurl = bench.hurl(&minimal.url, jobs)?;
        let raw = bench.raw(&minimal.url, jobs)?;
        let (unsigned, whole) = bench.suite("unsigned", &minimal.url, jobs)?;
        let (signed, _) = bench.suite("signed", &minimal.url, jobs)?;
        let (judged, judged_whole) = bench.suite("signed", &bank.url, jobs)?;
        let _ = writeln!(
            text,
            "| {jobs} | {wrk} | {} | {raw:.0} | {unsigned:.0} | {:.2} | {} | {whole:.0} | {signed:.0} | {:.2} | {} | {judged:.0} | {:.2} | {judged_whole:.0} |",
            shown(hurl),
            unsigned / raw,
            of(unsigned, hurl),
            signed / bound,
            of(signed, hurl),
            judged / bound,
        );
    }
    drop((minimal, bank));
    text += "\n| what | shortest of several |\n|---|--:|\n";
    let first = bench.first_exchange()?;
    let _ =
        writeln!(text, "| start of the process to the first byte of a request | {} ms |", first.as_millis());
    for (what, arguments, times) in [
        ("`run --depth quick`", &["run", "--quiet", "--depth", "quick"][..], 7),
        ("`run`", &["run", "--quiet"], 7),
        ("`run --depth exhaustive`", &["run", "--quiet", "--depth", "exhaustive"], 3),
        ("`prove`", &["prove"], 1),
    ] {
        let took = bench.shortest(arguments, times)?;
        let _ = writeln!(text, "| {what} | {:.2} s |", took.as_secs_f64());
    }
    text += "\n| exchanges | most memory at once, in cases of 100 | in cases of 1 |\n|--:|---|---|\n";
    for count in ["1000", "10000", "100000", "1000000"] {
        let _ = write!(text, "| {count} |");
        for per_case in ["100", "1"] {
            let output =
                Command::new(&bench.own).args(["memory", count, per_case]).output().map_err(wrong)?;
            let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let _ = write!(text, " {} |", said.split(": ").nth(1).unwrap_or(&said));
        }
        text.push('\n');
    }
    section::write_head(path, &text)?;
    Ok(text.trim_end().to_owned())
}
