//! Measures detection and false alarms: every bank (clean, with a fault, with a variation, in a style)
//! against every case. A fault must be caught by its own clause. On the clean bank, on a variation and in a
//! style, only warnings about the freedoms that they use are allowed.

pub mod breakdown;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use xs2aspec_record::{CaseVerdict, Reason, Verdict};

/// The kind of bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It conforms to the whole document.
    Clean,
    /// It violates one clause in one way.
    Fault,
    /// It uses one freedom of the document.
    Variation,
    /// A whole conforming bank that uses many freedoms.
    Style,
}

impl Kind {
    /// Returns the word for it: `clean`, `fault`, `variation` or `style`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Fault => "fault",
            Self::Variation => "variation",
            Self::Style => "style",
        }
    }
}

/// The result for a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Caught {
    /// A case fails for the fault's own clause.
    Denied,
    /// A case warns about the fault's own clause, and none fails for it.
    Warned,
    /// A control is rejected, which is denied, so that cases of the fault's own clause could not be judged.
    ByControl,
    /// Only other clauses have findings.
    ByAnother,
    /// There are no findings.
    Missed,
}

impl Caught {
    /// Returns the words for it in a stored matrix.
    pub fn word(self) -> &'static str {
        match self {
            Self::Denied => "denied",
            Self::Warned => "warned of",
            Self::ByControl | Self::ByAnother | Self::Missed => "survives",
        }
    }
}

/// One bank and the results of every case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The kind of bank.
    pub kind: Kind,
    /// Name of the fault or variation, or `clean`.
    pub name: String,
    /// The clause that is violated, or that leaves the freedom. It is empty for the clean bank.
    pub clause: String,
    /// The operator that derived the fault, unless it was handwritten.
    pub operator: Option<String>,
    /// The name of the fault that affects more requests, which includes this one.
    pub whole: Option<String>,
    /// The style of a bank with a fault, unless it is the clean bank.
    pub style: Option<String>,
    /// Number of cases that ran.
    pub cases: usize,
    /// Failed cases, by id: each with its clause and the clauses of its findings.
    pub fired: BTreeMap<String, BTreeSet<String>>,
    /// Cases that share a failed baseline request, by id, each with its clause. They cannot be distinguished
    /// from it, and test the same request.
    pub by_name: BTreeMap<String, String>,
    /// Controls of cases of the violated clause that were rejected, and failed.
    pub controls: BTreeSet<String>,
    /// Cases that only warn, by id: each with its clause and the clauses of its findings.
    pub warned: BTreeMap<String, (String, BTreeSet<String>)>,
    /// Clauses with allowed warnings on a conforming bank, which uses their freedom in another way than the
    /// plain reading.
    pub may_warn: BTreeSet<String>,
    /// Cases that could not be judged, by id, with the reason.
    pub unjudged: BTreeMap<String, Reason>,
    /// Cases that were rejected for another reason than their clause, by id, each with a message. Only banks
    /// that name their reasons have any.
    pub masked: BTreeMap<String, String>,
}

impl Row {
    /// Creates the row of a bank from the verdicts of its run.
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

    /// Returns the cases that fail or warn for the fault's own clause, including cases that share a failed
    /// baseline request.
    pub fn own(&self) -> impl Iterator<Item = &str> {
        let warned = self
            .warned
            .iter()
            .filter(|(_, (own, clauses))| *own == self.clause || clauses.contains(&self.clause));
        self.denied().chain(warned.map(|(case, _)| case.as_str()))
    }

    /// Returns the result for its fault.
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

    /// Returns the cases among them that fail.
    fn denied(&self) -> impl Iterator<Item = &str> {
        let fired = self.fired.iter().filter(|(_, clauses)| clauses.contains(&self.clause));
        let by_name = self.by_name.iter().filter(|(_, clause)| **clause == self.clause);
        fired.map(|(case, _)| case.as_str()).chain(by_name.map(|(case, _)| case.as_str()))
    }

    /// Returns the clauses that its failing and warning cases name.
    pub fn accused(&self) -> BTreeSet<&str> {
        let warned = self.warned.values().flat_map(|(_, clauses)| clauses);
        let by_name = self.by_name.values();
        self.fired.values().flatten().chain(warned).chain(by_name).map(String::as_str).collect()
    }

    /// Returns the cases that accuse a conforming bank, each with a message: those that fail, and those that
    /// warn about anything but the freedom that the bank uses.
    pub fn alarms(&self) -> Vec<(&str, String)> {
        let joined = |clauses: &BTreeSet<String>| clauses.iter().cloned().collect::<Vec<_>>().join(", ");
        let fired =
            self.fired.iter().map(|(case, clauses)| (case.as_str(), format!("fails ({})", joined(clauses))));
        let warned = self.warned.iter().filter(|(_, (_, clauses))| !clauses.is_subset(&self.may_warn));
        let warned =
            warned.map(|(case, (_, clauses))| (case.as_str(), format!("warns ({})", joined(clauses))));
        fired.chain(warned).collect()
    }

    /// Returns true if a conforming bank is accused, or a case cannot be judged on it.
    pub fn is_accused(&self) -> bool {
        self.kind != Kind::Fault
            && !(self.alarms().is_empty() && self.unjudged.is_empty() && self.masked.is_empty())
    }

    /// Returns the accused clauses with the number of cases: failing cases first, then warning ones, most
    /// first.
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
    /// Clauses whose violations can be observed.
    testable: BTreeSet<String>,
}

/// A reason that a proof fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw(pub String);

impl KillMatrix {
    /// Creates a matrix. `testable` are the clauses that must have a fault.
    pub fn new(mut rows: Vec<Row>, testable: BTreeSet<String>) -> Self {
        rows.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        Self { rows, testable }
    }

    /// Returns the rows: the clean bank, then faults, then variations, each by name.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the rows of this kind.
    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.kind == kind)
    }

    /// Returns all flaws: faults that survive or are caught by other clauses only, false alarms and unjudged
    /// cases on conforming banks, and testable clauses without a fault. `whole` is true if every fault was
    /// tried. `survivors` are the known faults that their own clause does not catch.
    pub fn flaws(&self, whole: bool, survivors: &BTreeMap<String, String>) -> Vec<Flaw> {
        let mut flaws = Vec::new();
        for row in &self.rows {
            let Row { name, clause, .. } = row;
            let whole = row.whole.as_ref().and_then(|whole| survivors.get_key_value(whole));
            if let Some((whole, why)) = whole.filter(|_| row.own().next().is_none()) {
                flaws.push(Flaw(format!("fault {name} is not caught, like {whole}: {why}")));
            } else if row.kind == Kind::Fault && survivors.contains_key(name) {
                if row.own().next().is_some() {
                    flaws.push(Flaw(format!("fault {name} is caught, but still listed as a survivor")));
                }
            } else if row.kind == Kind::Fault && row.caught() == Caught::Missed {
                flaws.push(Flaw(format!("fault {name} survives: no case fails")));
            } else if row.kind == Kind::Fault && row.caught() == Caught::ByControl {
                let controls = row.controls.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                flaws.push(Flaw(format!(
                    "fault {name} rejects {controls}, which is denied, so {clause} cannot be judged"
                )));
            } else if row.kind == Kind::Fault && row.caught() == Caught::ByAnother {
                let by = row.accusations();
                let by: Vec<&str> = by.iter().take(3).map(|(clause, _)| clause.as_str()).collect();
                flaws
                    .push(Flaw(format!("fault {name} is caught only by {}, not by {clause}", by.join(", "))));
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
                gone.map(|name| Flaw(format!("the survivors list the fault {name}, which does not exist"))),
            );
            let broken: BTreeSet<&str> = self.of(Kind::Fault).map(|row| row.clause.as_str()).collect();
            let without = self.testable.iter().filter(|clause| !broken.contains(clause.as_str()));
            flaws.extend(without.map(|clause| Flaw(format!("no fault violates the clause {clause}"))));
        }
        flaws
    }

    /// Returns the cases that alone catch some fault for its own clause, with that fault.
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

    /// Returns the percentage of faults that are caught by their own clause, rounded down, or 100 if there
    /// are none.
    pub fn percent_caught(&self) -> usize {
        let faults = self.of(Kind::Fault).count();
        let caught = self.of(Kind::Fault).filter(|row| row.own().next().is_some()).count();
        (caught * 100).checked_div(faults).unwrap_or(100)
    }

    /// Returns true if no conforming bank is accused, and every case can be judged on it.
    pub fn is_silent(&self) -> bool {
        !self.rows.iter().any(Row::is_accused)
    }

    /// Returns one line of totals.
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
            faults => format!(", {faults} by a control that they reject"),
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

    /// Returns the matrix as a file for comparison: a line per bank, with the result for its fault, or with
    /// the clauses named on a conforming bank. Apart from the catching case, it is stable between runs with
    /// the same suite and banks.
    pub fn snapshot(&self) -> String {
        let mut text = format!(
            "# {}\n# bank, name, the result of its own clause and the case that shows it, or the other findings; written by `xs2aspec prove --matrix FILE --update`\n",
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
                    // The counts depend on the order of requests if a bank counts them.
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

    /// Returns the whole matrix: a line for each bank and failing or warning case, with the clauses that it
    /// names.
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

    /// Returns a line for each of these cases: the number of faults on which it fails or warns, and a fault
    /// that it alone catches for its own clause. A case without one is redundant.
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

    /// Returns the summary in Markdown: totals, flaws, and faults by clause, by area, by operator and by
    /// style.
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

    /// Returns, in Markdown, everything that depends on a single case: clauses all of whose faults only one
    /// case catches, and the cases that alone catch a fault. The banks must have been tested with every case.
    pub fn needs(&self) -> String {
        let fragile = self.fragile();
        let mut text = format!(
            "\n### Fragile clauses\n\n{} clauses depend on one case, which alone catches all of their faults:\n\n",
            fragile.len()
        );
        for (clause, case) in fragile {
            _ = writeln!(text, "- `{clause}`: `{case}`");
        }
        let alone = self.alone();
        _ = writeln!(
            text,
            "\n### Cases\n\n{} cases are the only one to catch some fault by its own clause:\n",
            alone.len()
        );
        for (case, fault) in alone {
            _ = writeln!(text, "- `{case}`: `{fault}`");
        }
        text
    }

    /// Returns the clauses for which one case alone catches all caught faults, with that case.
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
