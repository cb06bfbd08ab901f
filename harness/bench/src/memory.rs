//! Many exchanges through the record and all reports, and the memory that it takes.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
};

use xs2aspec_record::{CaseVerdict, Event, Exchange, RecordWriter, RunFinished, Totals};
use xs2aspec_report::{
    format::terminal::Terminal,
    reporter::Reporter as _,
    stream::{self, Live},
};

const RECORD: &str = include_str!("../../../reports/examples/record.jsonl");

/// Puts so many exchanges through the record and every report; the most memory that was resident, in KiB.
pub(crate) fn memory(count: usize, per_case: usize) -> Result<String, String> {
    fn wrong(error: impl std::fmt::Display) -> String {
        error.to_string()
    }
    let events = xs2aspec_record::read(RECORD.as_bytes()).map_err(wrong)?;
    let folder = tempfile::TempDir::new().map_err(wrong)?;
    let path = |name: &str| folder.path().join(name);
    let file = File::create(path("record.jsonl")).map_err(wrong)?;
    let mut writer = RecordWriter::new(BufWriter::new(file));
    let mut terminal = Terminal::default();
    let mut live = Live::new(vec![&mut terminal]);
    let mut write = |event: Event| {
        writer.write(&event).map_err(wrong)?;
        live.add(event);
        Ok::<_, String>(())
    };
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
        return Err("the example has not one of each event".to_owned());
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
    for case in 0..cases {
        let id = format!("{}/generated-{case:07}", verdict.clause);
        for step in 0..per_case.min(count - case * per_case) {
            let number = (case * per_case + step + 1) as u64;
            let one = Exchange { number, case: id.clone(), step: format!("step/{step}"), ..exchange.clone() };
            write(Event::Exchange(one))?;
        }
        let one = CaseVerdict {
            case: id,
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
    let finish = RunFinished { counts: totals.counts(), exchanges: count as u64, waivers: vec![], ..finish };
    write(Event::RunFinished(finish))?;
    writer.finish().map_err(wrong)?;

    let summary = live.finish().map_err(wrong)?;
    if let Some(error) = stream::write(folder.path(), &summary).first() {
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
