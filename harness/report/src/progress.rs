//! Output during a run, fed with its events.

use std::{
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

pub use indicatif::ProgressDrawTarget;
use indicatif::{ProgressBar, ProgressStyle};
use xs2aspec_record::{Counts, Event, Role, RunStarted, Verdict};

use crate::{
    format::terminal,
    text::{self, short},
    words,
};

/// Limit of the failing cases that are printed above the bar. Further ones are only counted.
pub const LISTED: usize = 50;

/// The kind of progress output. The caller chooses it, because it knows whether it writes to a terminal.
pub enum Mode {
    /// A bar with the counts so far, and failing cases above it. For a terminal.
    Bar(ProgressDrawTarget),
    /// A line at the start, and one for each completed tenth of the cases. For a log.
    Plain(Box<dyn Write + Send>),
    /// No output.
    Quiet,
}

/// The progress of one run.
pub struct Progress {
    show: Show,
    counts: Counts,
    cases: usize,
}

#[derive(Clone)]
enum Show {
    Bar(ProgressBar),
    Plain(Arc<Mutex<Box<dyn Write + Send>>>),
    Nothing,
}

/// A handle for messages next to the progress, about things that no event reports.
pub struct Notes(Show);

impl Notes {
    /// Prints a line.
    pub fn line(&self, line: &str) {
        match &self.0 {
            Show::Bar(bar) => bar.println(line),
            // Errors of the log are handled with the events.
            Show::Plain(out) => drop(written(out, line)),
            Show::Nothing => {}
        }
    }

    /// Shows words behind the counts of the bar, until it is called again.
    pub fn beside(&self, words: &str) {
        if let Show::Bar(bar) = &self.0 {
            bar.set_prefix(words.to_owned());
        }
    }
}

fn written(out: &Mutex<Box<dyn Write + Send>>, line: &str) -> std::io::Result<()> {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(out, "{line}").and_then(|()| out.flush())
}

impl Progress {
    /// Creates progress in this mode. Nothing is shown before the run starts.
    pub fn new(mode: Mode) -> Self {
        let show = match mode {
            Mode::Bar(target) => {
                Show::Bar(ProgressBar::with_draw_target(Some(0), target).with_style(style()))
            }
            Mode::Plain(out) => Show::Plain(Arc::new(Mutex::new(out))),
            Mode::Quiet => Show::Nothing,
        };
        Self { show, counts: Counts::default(), cases: 0 }
    }

    /// Returns a handle for messages next to the progress.
    pub fn notes(&self) -> Notes {
        Notes(self.show.clone())
    }

    /// Shows the next event. A log that cannot be written is abandoned, and the run continues.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::RunStarted(start) => self.start(start),
            Event::Verdict(verdict) if verdict.role == Role::Selected => {
                let before = self.tenths();
                self.counts.add(verdict.verdict);
                if let Show::Bar(bar) = &self.show {
                    if verdict.verdict == Verdict::Fail && self.counts.fail <= LISTED {
                        bar.println(terminal::line(verdict));
                    }
                    bar.set_message(words::counts(&self.counts));
                    bar.inc(1);
                } else if self.tenths() > before {
                    let (done, cases) = (self.counts.total(), self.cases);
                    self.say(&format!(
                        "{done} of {}: {}",
                        text::count(cases, "case"),
                        words::counts(&self.counts)
                    ));
                }
            }
            Event::RunFinished(_) => {
                if let Show::Bar(bar) = &self.show {
                    bar.finish_and_clear();
                }
            }
            Event::Verdict(_)
            | Event::Profile(_)
            | Event::Resumed(_)
            | Event::Changes(_)
            | Event::Located(_)
            | Event::AskedAlone(_)
            | Event::RefusedSince(_)
            | Event::AnswerChecks(_)
            | Event::Document(_)
            | Event::Clause(_)
            | Event::Source(_)
            | Event::Sending(_)
            | Event::Exchange(_) => {}
        }
    }

    fn start(&mut self, start: &RunStarted) {
        self.cases = start.cases;
        if let Show::Bar(bar) = &self.show {
            bar.set_length(start.cases as u64);
            bar.set_message(words::counts(&self.counts));
            bar.tick();
        }
        let cases = text::count(start.cases, "case") + &terminal::by_name(start.said_by_name);
        let target = short(&start.target);
        let at = start.address().map(|address| format!(" ({})", short(address))).unwrap_or_default();
        self.say(&format!("{}: {cases} against {target}{at}", short(&start.tool)));
    }

    fn say(&mut self, line: &str) {
        if let Show::Plain(out) = &self.show
            && written(out, line).is_err()
        {
            self.show = Show::Nothing;
        }
    }

    fn tenths(&self) -> usize {
        (self.counts.total() * 10).checked_div(self.cases).unwrap_or_default()
    }
}

fn style() -> ProgressStyle {
    // A template that does not parse is a bug. The default bar is good enough.
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}{prefix}");
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use std::{
        fmt, io,
        sync::{Arc, Mutex},
    };

    use indicatif::TermLike;

    use super::*;
    use crate::sample::{self, Sample};

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const ROWS: u16 = 20;
    const COLUMNS: u16 = 160;

    /// The contents of a terminal.
    #[derive(Clone)]
    struct Screen(Arc<Mutex<vt100::Parser>>);

    impl Screen {
        fn new() -> Self {
            Self(Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 0))))
        }

        fn contents(&self) -> String {
            let terminal = self.0.lock().unwrap();
            let rows = terminal.screen().rows(0, COLUMNS);
            let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
            rows.join("\n").trim_end().to_owned()
        }

        fn send(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().write_all(text.as_bytes())
        }

        /// Sends `ESC [ n final` (ECMA-48), except for 0, which a terminal reads as 1.
        fn moved(&self, by: usize, end: char) -> io::Result<()> {
            if by == 0 { Ok(()) } else { self.send(&format!("\x1b[{by}{end}")) }
        }
    }

    impl fmt::Debug for Screen {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("Screen")
        }
    }

    impl TermLike for Screen {
        fn width(&self) -> u16 {
            COLUMNS
        }
        fn height(&self) -> u16 {
            ROWS
        }
        fn move_cursor_up(&self, by: usize) -> io::Result<()> {
            self.moved(by, 'A')
        }
        fn move_cursor_down(&self, by: usize) -> io::Result<()> {
            self.moved(by, 'B')
        }
        fn move_cursor_right(&self, by: usize) -> io::Result<()> {
            self.moved(by, 'C')
        }
        fn move_cursor_left(&self, by: usize) -> io::Result<()> {
            self.moved(by, 'D')
        }
        fn write_line(&self, line: &str) -> io::Result<()> {
            self.send(&format!("{line}\r\n"))
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.send(text)
        }
        fn clear_line(&self) -> io::Result<()> {
            self.send("\r\x1b[2K")
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Broken;

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn plain(events: &[Event]) -> String {
        let log = Log::default();
        let mut progress = Progress::new(Mode::Plain(Box::new(log.clone())));
        for event in events {
            progress.event(event);
        }
        let bytes = log.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_log_has_a_line_at_the_start_and_one_for_each_tenth() {
        let mut sample = Sample::new(40);
        for number in 0..40 {
            sample.verdict(
                &format!("periodic.months/{number}"),
                if number == 5 { Verdict::Fail } else { Verdict::Pass },
            );
        }
        let log = plain(&sample.finished());
        assert_eq!(log.lines().count(), 11, "{log}");
        assert!(log.starts_with(
            "xs2aspec 0.1.0: 40 cases against test bank (https://bank.test/psd2)\n4 of 40 cases: pass 4\n8 of"
        ));
        assert!(log.ends_with("40 of 40 cases: pass 39, fail 1\n"));
    }

    #[test]
    fn controls_and_an_empty_run_move_nothing() {
        let mut sample = Sample::new(0);
        sample.verdict("periodic.months/one", Verdict::Pass).role = Role::Control;
        assert_eq!(plain(&sample.finished()).lines().count(), 1);
    }

    #[test]
    fn a_log_that_is_gone_does_not_stop_the_run() {
        let mut progress = Progress::new(Mode::Plain(Box::new(Broken)));
        for event in sample::mixed() {
            progress.event(&event);
        }
        assert!(matches!(progress.show, Show::Nothing));
        assert_eq!(progress.counts.total(), 9);
    }

    #[test]
    fn the_bar_counts_and_lists_failing_cases_above() {
        let term = Screen::new();
        let mut progress = Progress::new(Mode::Bar(ProgressDrawTarget::term_like(Box::new(term.clone()))));
        let events = sample::mixed();
        let (last, before) = events.split_last().unwrap();
        for event in before {
            progress.event(event);
        }
        if let Show::Bar(bar) = &progress.show {
            bar.force_draw();
        }
        insta::assert_snapshot!(term.contents(), @"
        FAIL  periodic.months.duplicate / adjacent: expected a rejection (4xx), got 201 with transactionStatus RCVD
        ============================== 9/9  pass 4, fail 1, inconclusive 1, not-applicable 1, observed 1, error 1
        ");
        progress.notes().beside("; about 2 minutes at 5 requests a second");
        if let Show::Bar(bar) = &progress.show {
            bar.force_draw();
        }
        assert!(
            term.contents().ends_with("error 1; about 2 minutes at 5 requests a second"),
            "{}",
            term.contents()
        );
        progress.event(last);
        assert!(!term.contents().contains("9/9"), "{}", term.contents());
        assert!(term.contents().contains("FAIL  periodic.months.duplicate / adjacent"));
    }

    #[test]
    fn a_hostile_target_cannot_steer_the_terminal() {
        let log = plain(&sample::hostile());
        assert!(!log.chars().any(|letter| letter != '\n' && text::is_hostile(letter)), "{log:?}");
        assert_eq!(log.lines().filter(|line| line.starts_with("FAIL")).count(), 0);
    }
}
