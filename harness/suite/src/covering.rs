//! Covering arrays: few rows that combine the levels of factors.

use std::collections::BTreeSet;

/// A factor and one of its levels.
pub(crate) type Cell = (usize, usize);

/// Returns rows in which every two compatible cells are together at least once. They are chosen greedily, so
/// that rows are few. Only `is_accepted` knows which cells are compatible. Two cells that are not are found
/// when it rejects a row with them, and are then kept apart.
pub(crate) fn covering(levels: &[usize], is_accepted: impl Fn(&[Cell]) -> bool) -> Vec<Vec<Cell>> {
    let pair = |one: Cell, other: Cell| if one.0 < other.0 { (one, other) } else { (other, one) };
    let every = || {
        levels.iter().enumerate().flat_map(|(factor, levels)| (0..*levels).map(move |level| (factor, level)))
    };
    let mut open: BTreeSet<(Cell, Cell)> = BTreeSet::new();
    for one in every() {
        open.extend(every().filter(|other| one.0 < other.0).map(|other| (one, other)));
    }
    let mut apart: BTreeSet<(Cell, Cell)> = BTreeSet::new();
    let mut rows = Vec::new();
    while let Some((first, second)) = open.pop_first() {
        let mut row = vec![first, second];
        for (factor, levels) in levels.iter().enumerate() {
            if row.iter().any(|known| known.0 == factor) {
                continue;
            }
            let fits = |cell: Cell| row.iter().all(|other| !apart.contains(&pair(cell, *other)));
            let gain = |cell: Cell| row.iter().filter(|other| open.contains(&pair(cell, **other))).count();
            let fitting = (0..*levels).map(|level| (factor, level)).filter(|cell| fits(*cell));
            row.extend(fitting.max_by_key(|cell| (gain(*cell), levels - cell.1)));
        }
        if !is_accepted(&row) {
            let mut kept: Vec<Cell> = Vec::new();
            for cell in row {
                kept.push(cell);
                if kept.len() > 1 && !is_accepted(&kept) {
                    kept.pop();
                    let other = kept.iter().find(|other| !is_accepted(&[**other, cell]));
                    apart.extend(other.map(|other| pair(cell, *other)));
                }
            }
            row = kept;
        }
        for one in &row {
            for other in row.iter().filter(|other| one.0 < other.0) {
                open.remove(&(*one, *other));
            }
        }
        open.retain(|pair| !apart.contains(pair));
        if row.len() > 1 {
            rows.push(row);
        }
    }
    rows
}

/// Returns rows in which every cell that is accepted at all occurs once. They are chosen greedily, so that
/// rows are few. Factors with the fewest used levels come first. A factor is skipped once all its levels are
/// used.
pub(crate) fn each_once(levels: &[usize], is_accepted: impl Fn(&[Cell]) -> bool) -> Vec<Vec<Cell>> {
    let mut open: Vec<Vec<Cell>> = Vec::new();
    for (factor, levels) in levels.iter().enumerate() {
        open.push((0..*levels).map(|level| (factor, level)).collect());
    }
    let mut rows = Vec::new();
    while open.iter().any(|cells| !cells.is_empty()) {
        let mut row: Vec<Cell> = Vec::new();
        let mut order: Vec<usize> = (0..open.len()).collect();
        order.sort_by_key(|factor| levels[*factor] - open[*factor].len());
        for factor in order {
            let cells = &mut open[factor];
            let Some(at) = cells.iter().position(|cell| {
                row.push(*cell);
                let fits = is_accepted(&row);
                row.pop();
                fits
            }) else {
                continue;
            };
            row.push(cells.remove(at));
        }
        // A cell that fits into no row is not even accepted together with the baseline.
        if row.is_empty() {
            break;
        }
        row.sort_unstable();
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_two_cells_that_go_together_are_together_once() {
        // Two incompatible cells, and three that are compatible only in pairs.
        let is_accepted = |row: &[Cell]| {
            let has = |cell| row.contains(&cell);
            !(has((0, 1)) && has((1, 0)) || has((1, 1)) && has((2, 2)) && has((3, 0)))
        };
        let levels = [3, 2, 4, 2];
        let rows = covering(&levels, is_accepted);
        assert!(rows.iter().all(|row| is_accepted(row)), "{rows:?}");
        let together =
            |one: Cell, other: Cell| rows.iter().any(|row| row.contains(&one) && row.contains(&other));
        for (one, other) in
            [((0, 0), (1, 0)), ((1, 1), (2, 2)), ((1, 1), (3, 0)), ((2, 2), (3, 0)), ((2, 3), (3, 1))]
        {
            assert!(together(one, other), "{one:?} {other:?} {rows:?}");
        }
        let cells = levels
            .iter()
            .enumerate()
            .flat_map(|(factor, levels)| (0..*levels).map(move |level| (factor, level)));
        let cells: Vec<Cell> = cells.collect();
        for one in &cells {
            for other in cells.iter().filter(|other| one.0 < other.0) {
                assert_eq!(together(*one, *other), is_accepted(&[*one, *other]), "{one:?} {other:?}");
            }
        }
        assert!(rows.len() < 24, "{} rows for 44 pairs", rows.len());
    }

    #[test]
    fn every_cell_is_there_once() {
        let is_accepted = |row: &[Cell]| {
            let has = |cell| row.contains(&cell);
            !(has((0, 1)) && has((1, 0)) || has((2, 3)))
        };
        let rows = each_once(&[3, 1, 4], is_accepted);
        let mut cells = rows.concat();
        cells.sort_unstable();
        assert_eq!(cells, [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1), (2, 2)], "{rows:?}");
        assert!(rows.iter().all(|row| is_accepted(row)), "{rows:?}");
        assert_eq!(rows.len(), 3, "{rows:?}");
    }
}
