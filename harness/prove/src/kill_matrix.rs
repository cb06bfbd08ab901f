//! What the suite notices and what it leaves alone, measured: every bank (clean, with a fault, with a
//! variation, in a style) against every case. A fault must be caught by its own clause; on the clean bank, on
//! a variation and on a style nothing may fire, but for a warning about the freedoms that they use.

pub mod breakdown;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use xs2aspec_record::{CaseVerdict, Reason, Verdict};

/// What is special about a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing: it keeps the whole document.
    Clean,
    /// It breaks one clause in one way.
    Fault,
    /// It uses one freedom that the document leaves.
    Variation,
    /// It uses many of them: a whole lawful bank.
    Style,
}

impl Kind {
    /// The word for it: `clean`, `fault`, `variation` or `style`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Fault => "fault",
            Self::Variation => "variation",
            Self::Style => "style",
        }
    }
}

/// What is said of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Caught {
    /// A case fails for its own clause.
    Denied,
    /// A case warns of its own clause, and none fails for it.
    Warned,
    /// A control is refused, which is denied, so that cases of its own clause could not be judged.
    ByControl,
    /// Only of other clauses anything is said.
    ByAnother,
    /// Nothing.
    Missed,
}

impl Caught {
    /// The words for it in a matrix that is kept.
    pub fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Warned => "warned of",
            Self::ByControl | Self::ByAnother | Self::Missed => "survives",
        }
    }
}

/// One bank and what every case said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What is special about it.
    pub kind: Kind,
    /// Name of the fault or variation; `clean` for neither.
    pub name: String,
    /// The clause that is broken, or that leaves the freedom; empty for the clean bank.
    pub clause: String,
    /// The operator that made the fault, where nobody wrote it.
    pub operator: Option<String>,
    /// The name of the fault that shows in more requests, of which this one is a part.
    pub whole: Option<String>,
    /// The style in which the bank has the fault, where it is not the plain one.
    pub style: Option<String>,
    /// Cases that ran.
    pub cases: usize,
    /// Cases that failed, by id: each with its clause and the clauses of its findings.
    pub fired: BTreeMap<String, BTreeSet<String>>,
    /// Cases that are a plain request once more, said by name, where that request failed: each with its
    /// clause. They are not told apart from it, and the request is theirs as well.
    pub by_name: BTreeMap<String, String>,
    /// Controls of cases of the broken clause that were not accepted, and failed.
    pub controls: BTreeSet<String>,
    /// Cases that only warn, by id: each with its clause and the clauses of its findings.
    pub warned: BTreeMap<String, (String, BTreeSet<String>)>,
    /// Clauses of which a bank that keeps the document may be warned: it uses the freedom that they leave in
    /// another way than they are plainly read.
    pub may_warn: BTreeSet<String>,
    /// Cases that could not be judged, by id, with the reason.
    pub unjudged: BTreeMap<String, Reason>,
    /// Cases that a bank which names its reasons refused for another one than their clause, by id, each with
    /// what it says.
    pub masked: BTreeMap<String, String>,
}

impl Row {
    /// The row of a bank from the verdicts of its run.
    pub fn new<'a>(
        (kind, name, clause): (Kind, &str, &str),
        verdicts: impl IntoIterator<Item = &'a CaseVerdict>,
    ) -> Self {
        let mut row = Self {
            kind,
            name: name.to_owned(),
            clause: clause.to_owned(),
            operator: None,
            whole: None,
            style: None,
            cases: 0,
            fired: BTreeMap::new(),
            by_name: BTreeMap::new(),
            controls: BTreeSet::new(),
            warned: BTreeMap::new(),
            may_warn: Some(clause.to_owned()).filter(|_| kind == Kind::Variation).into_iter().collect(),
            unjudged: BTreeMap::new(),
            masked: BTreeMap::new(),
        };
        let verdicts: Vec<&CaseVerdict> = verdicts.into_iter().collect();
        for verdict in &verdicts {
            row.cases += 1;
            match verdict.verdict {
                Verdict::Fail => {
                    let clauses = verdict.findings.iter().map(|finding| &finding.clause);
                    let clauses = clauses.chain([&verdict.clause]).cloned().collect();
                    row.fired.insert(verdict.case.clone(), clauses);
                }
                Verdict::Warn => {
                    let clauses = verdict.findings.iter().map(|finding| finding.clause.clone()).collect();
                    row.warned.insert(verdict.case.clone(), (verdict.clause.clone(), clauses));
                }
                Verdict::Inconclusive | Verdict::Error => {
                    row.unjudged.insert(verdict.case.clone(), verdict.why());
                }
                Verdict::Pass
                | Verdict::Flaky
                | Verdict::Waived
                | Verdict::NotApplicable
                | Verdict::Observed => {}
            }
        }
        for verdict in verdicts.iter().filter(|verdict| verdict.verdict == Verdict::Inconclusive) {
            let is_broken = |plain| row.fired.contains_key(plain) || row.warned.contains_key(plain);
            if verdict.same_as.as_ref().is_some_and(is_broken) {
                row.by_name.insert(verdict.case.clone(), verdict.clause.clone());
            }
            let refused = verdict.control.as_ref().filter(|control| !control.accepted);
            if let Some(control) = refused.filter(|control| row.fired.contains_key(&control.case))
                && verdict.clause == clause
            {
                row.controls.insert(control.case.clone());
            }
        }
        row
    }

    /// Cases that fired or warned for the clause of the fault itself, by themselves or as the plain request
    /// that they are.
    pub fn own(&self) -> impl Iterator<Item = &str> {
        let warned = self
            .warned
            .iter()
            .filter(|(_, (own, clauses))| *own == self.clause || clauses.contains(&self.clause));
        self.denied().chain(warned.map(|(case, _)| case.as_str()))
    }

    /// What is said of its fault.
    pub fn caught(&self) -> Caught {
        if self.denied().next().is_some() {
            Caught::Denied
        } else if self.own().next().is_some() {
            Caught::Warned
        } else if self.fired.is_empty() && self.warned.is_empty() {
            Caught::Missed
        } else if self.controls.is_empty() {
            Caught::ByAnother
        } else {
            Caught::ByControl
        }
    }

    /// Those of them that fired.
    fn denied(&self) -> impl Iterator<Item = &str> {
        let fired = self.fired.iter().filter(|(_, clauses)| clauses.contains(&self.clause));
        let by_name = self.by_name.iter().filter(|(_, clause)| **clause == self.clause);
        fired.map(|(case, _)| case.as_str()).chain(by_name.map(|(case, _)| case.as_str()))
    }

    /// Clauses that its failing and warning cases name.
    pub fn accused(&self) -> BTreeSet<&str> {
        let warned = self.warned.values().flat_map(|(_, clauses)| clauses);
        let by_name = self.by_name.values();
        self.fired.values().flatten().chain(warned).chain(by_name).map(String::as_str).collect()
    }

    /// Cases that accuse a bank which keeps the document, each with what it says: those that fire, and those
    /// that warn of something else than the freedom that the bank uses.
    pub fn alarms(&self) -> Vec<(&str, String)> {
        let joined = |clauses: &BTreeSet<String>| clauses.iter().cloned().collect::<Vec<_>>().join(", ");
        let fired =
            self.fired.iter().map(|(case, clauses)| (case.as_str(), format!("fails ({})", joined(clauses))));
        let warned = self.warned.iter().filter(|(_, (_, clauses))| !clauses.is_subset(&self.may_warn));
        let warned =
            warned.map(|(case, (_, clauses))| (case.as_str(), format!("warns ({})", joined(clauses))));
        fired.chain(warned).collect()
    }

    /// Whether a bank that keeps the document is accused of anything, or a case cannot be judged there.
    pub fn is_accused(&self) -> bool {
        self.kind != Kind::Fault
            && !(self.alarms().is_empty() && self.unjudged.is_empty() && self.masked.is_empty())
    }

    /// Firing cases by clause, most first, then warning ones: what the bank is accused of.
    fn accusations(&self) -> Vec<(String, usize)> {
        let mut counts = BTreeMap::<(bool, &str), usize>::new();
        let warned = self.warned.values().flat_map(|(_, clauses)| clauses).map(|clause| (true, clause));
        for (is_warning, clause) in self.fired.values().flatten().map(|clause| (false, clause)).chain(warned)
        {
            *counts.entry((is_warning, clause)).or_default() += 1;
        }
        let mut counts: Vec<((bool, &str), usize)> = counts.into_iter().collect();
        counts.sort_by_key(|((is_warning, clause), count)| (*is_warning, std::cmp::Reverse(*count), *clause));
        let label =
            |is_warning, clause: &str| if is_warning { format!("warn {clause}") } else { clause.to_owned() };
        counts.into_iter().map(|((is_warning, clause), count)| (label(is_warning, clause), count)).collect()
    }
}

/// Every bank against every case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KillMatrix {
    rows: Vec<Row>,
    /// Clauses that a bank can be seen to break.
    testable: BTreeSet<String>,
}

/// One thing that makes a proof red.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw(pub String);

impl KillMatrix {
    /// A matrix. `testable` are the clauses for which there must be a fault.
    pub fn new(mut rows: Vec<Row>, testable: BTreeSet<String>) -> Self {
        rows.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        Self { rows, testable }
    }

    /// The rows: the clean bank, then faults, then variations, each by name.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Those of this kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.kind == kind)
    }

    /// Everything that makes it red: faults that survive or are caught by other clauses only, alarms and
    /// unjudged cases where nothing is wrong, and testable clauses without a fault. `whole` is whether every
    /// fault was tried, and `survivors` are faults of which it is known that their own clause does not catch
    /// them.
    pub fn flaws(&self, whole: bool, survivors: &BTreeMap<String, String>) -> Vec<Flaw> {
        let mut flaws = Vec::new();
        for row in &self.rows {
            let Row { name, clause, .. } = row;
            let whole = row.whole.as_ref().and_then(|whole| survivors.get_key_value(whole));
            if let Some((whole, why)) = whole.filter(|_| row.own().next().is_none()) {
                flaws.push(Flaw(format!("fault {name} is not caught, as {whole} is not: {why}")));
            } else if row.kind == Kind::Fault && survivors.contains_key(name) {
                if row.own().next().is_some() {
                    flaws.push(Flaw(format!("fault {name} is caught, and still among the survivors")));
                }
            } else if row.kind == Kind::Fault && row.caught() == Caught::Missed {
                flaws.push(Flaw(format!("fault {name} survives: no case fails")));
            } else if row.kind == Kind::Fault && row.caught() == Caught::ByControl {
                let controls = row.controls.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                flaws.push(Flaw(format!(
                    "fault {name} refuses {controls}, which is denied, so that {clause} cannot be judged"
                )));
            } else if row.kind == Kind::Fault && row.caught() == Caught::ByAnother {
                let by = row.accusations();
                let by: Vec<&str> = by.iter().take(3).map(|(clause, _)| clause.as_str()).collect();
                flaws
                    .push(Flaw(format!("fault {name} is caught by {} only, not by {clause}", by.join(", "))));
            }
            if row.kind != Kind::Fault {
                let what = if row.kind == Kind::Clean { "the clean bank" } else { name };
                let alarms = row.alarms();
                let accused =
                    alarms.iter().map(|(case, says)| format!("false alarm on {what}: {case} {says}"));
                let unjudged = row.unjudged.iter();
                let unjudged =
                    unjudged.map(|(case, why)| format!("{case} cannot be judged on {what}: {why}"));
                let masked = row.masked.iter().map(|(case, says)| format!("masked: {case}: {says}"));
                flaws.extend(accused.chain(unjudged).chain(masked).map(Flaw));
            }
        }
        if whole {
            let known: BTreeSet<&str> = self.of(Kind::Fault).map(|row| row.name.as_str()).collect();
            let gone = survivors.keys().filter(|name| !known.contains(name.as_str()));
            flaws.extend(
                gone.map(|name| Flaw(format!("there is no fault {name}, which is among the survivors"))),
            );
            let broken: BTreeSet<&str> = self.of(Kind::Fault).map(|row| row.clause.as_str()).collect();
            let without = self.testable.iter().filter(|clause| !broken.contains(clause.as_str()));
            flaws.extend(without.map(|clause| Flaw(format!("no fault breaks the clause {clause}"))));
        }
        flaws
    }

    /// Cases that alone catch some fault for its own clause, with that fault.
    pub fn alone(&self) -> BTreeMap<&str, &str> {
        let mut alone = BTreeMap::new();
        for row in self.of(Kind::Fault) {
            let mut own = row.own();
            if let (Some(case), None) = (own.next(), own.next()) {
                alone.entry(case).or_insert(row.name.as_str());
            }
        }
        alone
    }

    /// How many of a hundred faults are caught by their own clause, rounded down; 100 without any.
    pub fn percent_caught(&self) -> usize {
        let faults = self.of(Kind::Fault).count();
        let caught = self.of(Kind::Fault).filter(|row| row.own().next().is_some()).count();
        (caught * 100).checked_div(faults).unwrap_or(100)
    }

    /// Whether no bank that keeps the document is accused of anything, and every case can be judged there.
    pub fn is_silent(&self) -> bool {
        !self.rows.iter().any(Row::is_accused)
    }

    /// One line of totals.
    pub fn totals(&self) -> String {
        let faults = self.of(Kind::Fault).count();
        let killed = self.of(Kind::Fault).filter(|row| row.own().next().is_some()).count();
        let denied = self.of(Kind::Fault).filter(|row| row.denied().next().is_some()).count();
        let how = match killed - denied {
            0 => String::new(),
            warned => format!(" ({denied} denied, {warned} warned of)"),
        };
        let by_control = self.of(Kind::Fault).filter(|row| row.caught() == Caught::ByControl).count();
        let by_control = match by_control {
            0 => String::new(),
            faults => format!(", {faults} by a control that they refuse"),
        };
        let clauses: BTreeSet<&str> = self.of(Kind::Fault).map(|row| row.clause.as_str()).collect();
        let lawful = match (self.of(Kind::Variation).count(), self.of(Kind::Style).count()) {
            (variations, 0) => format!("the clean bank and {variations} variations"),
            (0, styles) => format!("the clean bank and {styles} styles"),
            (variations, styles) => format!("the clean bank, {variations} variations and {styles} styles"),
        };
        let alarms: usize =
            self.rows.iter().filter(|row| row.kind != Kind::Fault).map(|row| row.alarms().len()).sum();
        let cases = self.rows.iter().map(|row| row.cases).max().unwrap_or_default();
        format!(
            "{killed} of {faults} faults in {} clauses caught by their own clause{how}{by_control}; {alarms} false alarms on {lawful}; {cases} \
             cases",
            clauses.len()
        )
    }

    /// The matrix as a file to compare: a line for each bank, with what is said of its fault, or with the
    /// clauses that are named where there is none. But for the case that catches a fault it is stable between
    /// runs with the same suite and banks.
    pub fn snapshot(&self) -> String {
        let mut text = format!(
            "# {}\n# bank, name, whether its own clause denies it or warns of it, and by which case, which is asked first; or what else \
             is said of banks that keep the document; made by `xs2aspec prove --matrix FILE --update`\n",
            self.totals()
        );
        for row in &self.rows {
            let (kind, name) = (row.kind.word(), &row.name);
            let said = match row.kind {
                Kind::Fault => {
                    let by = row.own().next().map(|case| format!("\t{case}"));
                    row.caught().word().to_owned() + &by.unwrap_or_default()
                }
                Kind::Clean | Kind::Variation | Kind::Style => {
                    // How often depends on which answers come first, where a bank counts.
                    let mut clauses: Vec<String> =
                        row.accusations().into_iter().map(|(clause, _)| clause).collect();
                    clauses.sort_unstable();
                    clauses.join(", ")
                }
            };
            _ = writeln!(text, "{kind}\t{name}\t{said}");
        }
        text
    }

    /// The whole matrix: a line for each bank and case that fires, with the clauses that it names.
    pub fn details(&self) -> String {
        let mut text = "# bank, name, case that fails or warns, clauses that it names\n".to_owned();
        for row in &self.rows {
            for (case, clauses) in &row.fired {
                let clauses: Vec<&str> = clauses.iter().map(String::as_str).collect();
                _ = writeln!(text, "{}\t{}\t{case}\t{}", row.kind.word(), row.name, clauses.join(", "));
            }
            for (case, (_, clauses)) in &row.warned {
                let clauses: Vec<String> = clauses.iter().map(|clause| format!("warn {clause}")).collect();
                _ = writeln!(text, "{}\t{}\t{case}\t{}", row.kind.word(), row.name, clauses.join(", "));
            }
        }
        text
    }

    /// Each of these cases: how many faults it fails on, and the fault that it alone catches for its own
    /// clause. A case without one catches nothing that no other case catches.
    pub fn cases(&self, cases: &[&str]) -> String {
        let alone = self.alone();
        let mut counts = BTreeMap::<&str, usize>::new();
        for case in self.of(Kind::Fault).flat_map(|row| row.fired.keys().chain(row.warned.keys())) {
            *counts.entry(case).or_default() += 1;
        }
        let mut text = "# case, faults on which it fails or warns, fault that it alone catches\n".to_owned();
        for case in cases {
            let (count, fault) = (counts.get(case).unwrap_or(&0), alone.get(case).unwrap_or(&""));
            _ = writeln!(text, "{case}\t{count}\t{fault}");
        }
        text
    }

    /// The summary in Markdown: totals, flaws, and faults by clause, by area, by operator and by style.
    pub fn summary(&self, flaws: &[Flaw]) -> String {
        let mut text = format!("## Proof\n\n{}.\n\n", self.totals());
        if !flaws.is_empty() {
            _ = writeln!(text, "### Flaws\n");
            for Flaw(flaw) in flaws {
                _ = writeln!(text, "- {flaw}");
            }
            text.push('\n');
        }
        let mut clauses = BTreeMap::<&str, (usize, usize, usize)>::new();
        for row in self.of(Kind::Fault) {
            let (faults, caught, cases) = clauses.entry(&row.clause).or_default();
            let own = row.own().count();
            *faults += 1;
            *caught += usize::from(own > 0);
            *cases += own;
        }
        text.push_str("### By clause\n\n| clause | faults | caught | failing cases of the clause |\n|---|---|---|---|\n");
        for (clause, (faults, caught, cases)) in clauses {
            _ = writeln!(text, "| `{clause}` | {faults} | {caught} | {cases} |");
        }
        text.push_str(&breakdown::tables(self));
        text
    }

    /// What rests on a single case, in Markdown: clauses all whose faults only one case catches, and the
    /// cases that alone catch a fault. It takes banks that were asked every case.
    pub fn needs(&self) -> String {
        let fragile = self.fragile();
        let mut text = format!(
            "\n### Fragile clauses\n\n{} clauses have faults that one case alone catches, all of them the same:\n\n",
            fragile.len()
        );
        for (clause, case) in fragile {
            _ = writeln!(text, "- `{clause}`: `{case}`");
        }
        let alone = self.alone();
        _ = writeln!(text, "\n### Cases\n\n{} cases alone catch a fault for its own clause:\n", alone.len());
        for (case, fault) in alone {
            _ = writeln!(text, "- `{case}`: `{fault}`");
        }
        text
    }

    /// Clauses of which one case alone catches all faults that are caught, with that case.
    fn fragile(&self) -> BTreeMap<&str, &str> {
        let mut catching = BTreeMap::<&str, BTreeSet<&str>>::new();
        for row in self.of(Kind::Fault) {
            catching.entry(&row.clause).or_default().extend(row.own());
        }
        let alone = catching.into_iter().filter(|(_, cases)| cases.len() == 1);
        alone.filter_map(|(clause, cases)| Some((clause, cases.into_iter().next()?))).collect()
    }
}

#[cfg(test)]
mod tests;
