//! The remaining time of a run. A long run prints it once, and the progress bar always shows it.

use std::{
    collections::{BTreeSet, VecDeque},
    convert::Infallible,
    time::Duration,
};

use tokio::time::{Instant, sleep};
use xs2aspec_judge::profile::Offered;
use xs2aspec_report::{progress::Notes, text};
use xs2aspec_runner::Runner;
use xs2aspec_suite::{Plan, Suite};

/// The interval between two forecasts.
const STEP: Duration = Duration::from_secs(1);
/// The period over which responses are counted.
const LOOK_BACK: Duration = Duration::from_secs(15);
/// The time after which the observed rate outweighs the known limits.
const SURE: Duration = Duration::from_secs(4);
/// The remaining time below which no line is printed.
const SOON: Duration = Duration::from_secs(30);
/// The time without a response after which a line is printed.
const SILENT: Duration = Duration::from_secs(2);

/// Reports the remaining time until it is dropped. `jobs` is the number of cases in flight.
pub(crate) async fn tell(runner: &Runner, plan: &Plan<'_>, jobs: usize, notes: Notes) -> Infallible {
    let suite = runner.judge().suite();
    let begun = Instant::now();
    let given_up = given_up(runner, plan, jobs);
    let mut forecast: Option<Forecast> = None;
    let (mut is_said, mut is_silence_said) = (false, false);
    loop {
        // A run without rate limits usually ends before a forecast is useful.
        if runner.interval().is_some() || begun.elapsed() >= SILENT {
            let forecast = forecast.get_or_insert_with(|| Forecast::new(planned(suite, plan)));
            let at = begun.elapsed();
            let left = forecast.next(at, runner.answers(), runner.interval());
            // The run may be short, as long as the target has accepted no request.
            match left.filter(|_| runner.known().is_under_way()) {
                Some(left) => {
                    if !is_said && left.time >= SOON {
                        notes.line(&left.to_string());
                        is_said = true;
                    }
                    notes.beside(&format!("; {left}"));
                }
                None if at >= SILENT && runner.answers() == 0 => {
                    let words = format!(
                        "no response yet; without one, the run stops in {}",
                        words(given_up.saturating_sub(at))
                    );
                    if !is_silence_said {
                        notes.line(&words);
                        is_silence_said = true;
                    }
                    notes.beside(&format!("; {words}"));
                }
                None => {}
            }
        }
        sleep(STEP).await;
    }
}

/// Runs both futures until the run ends, and returns its result. Polls the run first.
pub(crate) async fn beside<T>(run: impl Future<Output = T>, told: impl Future<Output = Infallible>) -> T {
    tokio::select! {
        biased;
        ended = run => ended,
        never = told => match never {},
    }
}

/// Returns the number of requests of a plan.
fn planned(suite: &Suite, plan: &Plan<'_>) -> u64 {
    suite.cost(plan.selected.iter().copied()).total() as u64
}

/// Returns the time after which the run gives up on a target that never responds. Each of the first baseline
/// requests waits until the deadline of the profile, and so does each request that tests for a capability.
/// The run then sends no other request.
fn given_up(runner: &Runner, plan: &Plan<'_>, jobs: usize) -> Duration {
    let profile = runner.judge().profile();
    let all = || plan.selected.iter().chain(&plan.controls).filter(|case| case.is_plain);
    let is_any_first = all().any(|case| case.before.is_empty());
    let first = || all().filter(|case| case.before.is_empty() == is_any_first);
    let needs: BTreeSet<&String> = first().flat_map(|case| &case.needs).collect();
    let asked = needs.into_iter().filter(|need| profile.capability(need) == Offered::Ask).count();
    let rounds = first().count().div_ceil(jobs.max(1)) + asked.div_ceil(jobs.max(1));
    profile.deadline * u32::try_from(rounds).unwrap_or(u32::MAX)
}

/// The remaining time of a run, and its rate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Left {
    time: Duration,
    per_second: f64,
}

impl std::fmt::Display for Left {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rate = self.per_second;
        let rate = if rate < 9.5 { format!("{rate:.1}") } else { format!("{rate:.0}") };
        write!(f, "{} at {} requests a second", words(self.time), rate.trim_end_matches(".0"))
    }
}

/// A forecast from the number of responses so far.
#[derive(Debug)]
struct Forecast {
    planned: u64,
    seen: VecDeque<(Duration, u64)>,
}

impl Forecast {
    fn new(planned: u64) -> Self {
        Self { planned, seen: VecDeque::from([(Duration::ZERO, 0)]) }
    }

    /// Returns the remaining time, if `answers` responses have arrived at the time `at`. `interval` is the
    /// shortest allowed time between two requests.
    fn next(&mut self, at: Duration, answers: u64, interval: Option<Duration>) -> Option<Left> {
        self.seen.push_back((at, answers));
        while self.seen.len() > 2 && self.seen[1].0 + LOOK_BACK <= at {
            self.seen.pop_front();
        }
        let (since, before) = *self.seen.front()?;
        let (age, new) = (at.saturating_sub(since), answers - before);
        let seen = (age > Duration::ZERO && new > 0).then(|| count(new) / age.as_secs_f64());
        let limit = interval.map(|interval| 1.0 / interval.as_secs_f64());
        let per_second = match (limit, seen) {
            (Some(limit), Some(seen)) if age >= SURE => seen.min(limit),
            (Some(limit), _) => limit,
            (None, seen) => seen?,
        };
        let left = self.planned.saturating_sub(answers);
        Some(Left { time: Duration::try_from_secs_f64(count(left) / per_second).ok()?, per_second })
    }
}

fn count(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// Returns a time in words, with one unit.
fn words(time: Duration) -> String {
    let seconds = usize::try_from(time.as_secs()).unwrap_or(usize::MAX);
    let (count, unit) = match seconds {
        0..90 => (seconds.max(1), "second"),
        90..5400 => ((seconds + 30) / 60, "minute"),
        _ => (seconds.saturating_add(1800) / 3600, "hour"),
    };
    format!("about {}", text::count(count, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(time: u64) -> Duration {
        Duration::from_secs(time)
    }

    #[test]
    fn a_limit_counts_until_enough_was_seen() {
        let mut forecast = Forecast::new(3900);
        let interval = Some(Duration::from_millis(200));
        let said = |left: Option<Left>| left.map(|left| left.to_string());
        assert_eq!(
            said(forecast.next(seconds(0), 0, interval)).unwrap(),
            "about 13 minutes at 5 requests a second"
        );
        // The target is slower than its limit.
        for at in 1..=60 {
            forecast.next(seconds(at), at * 2, interval);
        }
        assert_eq!(
            said(forecast.next(seconds(61), 122, interval)).unwrap(),
            "about 31 minutes at 2 requests a second"
        );
        // Responses before the look-back period do not count.
        for at in 62..=90 {
            forecast.next(seconds(at), 122, None);
        }
        assert_eq!(said(forecast.next(seconds(91), 122, None)), None, "it hangs");
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let mut forecast = Forecast::new(10);
        assert_eq!(forecast.next(seconds(0), 0, None), None);
        assert_eq!(forecast.next(seconds(3), 0, None), None);
        assert_eq!(forecast.next(seconds(4), 12, None).map(|left| left.time), Some(Duration::ZERO));
    }

    #[test]
    fn times_have_one_unit() {
        for (time, said) in
            [(0, "1 second"), (89, "89 seconds"), (90, "2 minutes"), (5399, "90 minutes"), (5400, "2 hours")]
        {
            assert_eq!(words(seconds(time)), format!("about {said}"));
        }
    }
}
