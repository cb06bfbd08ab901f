//! Writes many exchanges to the record and all reports, and measures the memory that it takes.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
};

use xs2aspec_record::{
    CaseVerdict, Event, Exchange, RecordReader, RecordWriter, RunFinished, Sending, Totals,
};
use xs2aspec_report::{
    format::{Report, terminal::Terminal},
    reporter::Reporter as _,
    stream,
};

const RECORD: &str = include_str!("../../../reports/examples/record.jsonl");

/// Writes `count` exchanges to the record and every report. Returns the peak resident memory.
pub(crate) fn memory(count: usize, per_case: usize) -> Result<String, String> {
    fn wrong(error: impl std::fmt::Display) -> String {
        error.to_string()
    }
    let events = xs2aspec_record::read(RECORD.as_bytes()).map_err(wrong)?;
    let folder = tempfile::TempDir::new().map_err(wrong)?;
    let path = |name: &str| folder.path().join(name);
    let file = File::create(path("record.jsonl")).map_err(wrong)?;
    let mut writer = RecordWriter::new(BufWriter::new(file));
    let mut write = |event: Event| writer.write(&event).map_err(wrong);
    let (mut exchange, mut verdict, mut start, mut finish) = (None, None, None, None);
    for event in &events {
        match event {
            Event::Exchange(one) if one.response.is_some() => exchange = Some(one.clone()),
            Event::Verdict(one) if one.verdict == xs2aspec_record::Verdict::Pass => {
                verdict = Some(one.clone());
            }
            Event::RunStarted(one) => start = Some(one.clone()),
            Event::RunFinished(one) => finish = Some(one.clone()),
            _ => {}
        }
    }
    let (Some(exchange), Some(verdict), Some(mut start), Some(finish)) = (exchange, verdict, start, finish)
    else {
        return Err("the example does not have one of each event".to_owned());
    };
    let cases = count.div_ceil(per_case);
    start.cases = cases;
    write(Event::RunStarted(start))?;
    for event in events.iter().filter(|event| {
        matches!(event, Event::Clause(_) | Event::Document(_) | Event::Profile(_) | Event::Source(_))
    }) {
        write(event.clone())?;
    }
    drop(events);
    let mut totals = Totals::default();
    let ids = |case: usize| format!("{}/generated-{case:07}", verdict.clause);
    // Cases in flight at once, as in a run. In judged traffic, requests are sequential and each is a case.
    let at_once = if per_case == 1 { 1 } else { 8 };
    let mut number = 0;
    for first in (0..cases).step_by(at_once) {
        let group = first..cases.min(first + at_once);
        for step in 0..per_case {
            for case in group.clone().rev().filter(|case| case * per_case + step < count) {
                number += 1;
                let (case, step) = (ids(case), format!("step/{step}"));
                let method = exchange.request.method.clone();
                write(Event::Sending(Sending { number, case: case.clone(), step: step.clone(), method }))?;
                write(Event::Exchange(Exchange { number, case, step, ..exchange.clone() }))?;
            }
        }
        for case in group.rev() {
            let one = CaseVerdict {
                case: ids(case),
                same_as: None,
                judged_with: vec![],
                unconfirmed: false,
                exchange: None,
                role: xs2aspec_record::Role::Selected,
                ..verdict.clone()
            };
            totals.add(&one, xs2aspec_record::Strength::Stated);
            write(Event::Verdict(one))?;
        }
    }
    let finish =
        RunFinished { counts: totals.counts(), exchanges: count as u64, waivers: vec![], exit: 0, ..finish };
    write(Event::RunFinished(finish))?;
    writer.finish().map_err(wrong)?;

    let mut terminal = Terminal::default();
    let summary =
        stream::summary(RecordReader::open(&path("record.jsonl")).map_err(wrong)?).map_err(wrong)?;
    if let Some(error) = stream::write(folder.path(), &summary, &Report::ALL, &mut [&mut terminal]).first() {
        return Err(error.to_string());
    }
    terminal.finish(&summary, &mut io::sink()).map_err(wrong)?;
    let written: u64 = fs::read_dir(folder.path())
        .map_err(wrong)?
        .filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()))
        .sum();
    let status = fs::read_to_string("/proc/self/status").map_err(wrong)?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown").trim();
    Ok(format!(
        "{count} exchanges in {cases} cases: at most {peak} resident, {} MB written",
        written / 1_000_000
    ))
}
