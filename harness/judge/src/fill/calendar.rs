//! Days on which any bank works, or that are special for one, from a day on.

use chrono::{Datelike, Days, NaiveDate, Weekday};

/// The first Wednesday from this day on that is no holiday with a fixed date. Every holiday that moves with
/// Easter, and every weekend, falls on another day, so that no calendar of bank holidays need be known.
pub(super) fn workday(from: NaiveDate) -> NaiveDate {
    const FIXED: [(u32, u32); 8] = [(1, 1), (5, 1), (5, 17), (6, 23), (12, 24), (12, 25), (12, 26), (12, 31)];
    from.iter_days()
        .find(|day| day.weekday() == Weekday::Wed && !FIXED.contains(&(day.month(), day.day())))
        .unwrap_or(from)
}

/// Returns the first [`workday`] from this day on in a month of so many days: 30, 31, or 28 for February of
/// any year. `None` for another number.
pub(super) fn workday_of_month(from: NaiveDate, days: u8) -> Option<NaiveDate> {
    let length = |day: &NaiveDate| if day.month() == 2 { 28 } else { day.num_days_in_month() };
    // A month of any of these lengths is at most a year ahead, and has a workday.
    from.iter_days().step_by(7).take(60).map(workday).find(|day| length(day) == days)
}

/// The first last day of a month from this day on that is no weekend, and of a month at whose end no holiday
/// is: Easter and its Monday may be at that of March, Ascension and Whitsun at that of May.
pub(super) fn month_end(from: NaiveDate) -> NaiveDate {
    const HOLIDAYS: [u32; 3] = [3, 5, 12];
    let is_end = |day: &NaiveDate| day.succ_opt().is_some_and(|next| next.month() != day.month());
    let is_weekend = |day: &NaiveDate| matches!(day.weekday(), Weekday::Sat | Weekday::Sun);
    from.iter_days()
        .find(|day| is_end(day) && !is_weekend(day) && !HOLIDAYS.contains(&day.month()))
        .unwrap_or(from)
}

/// The first 31 December from this day on.
pub(super) fn year_end(from: NaiveDate) -> NaiveDate {
    NaiveDate::from_ymd_opt(from.year(), 12, 31).unwrap_or(from)
}

/// The next 29 February that is at least 120 days after this day.
pub(super) fn leap_day(from: NaiveDate) -> NaiveDate {
    let from = from.checked_add_days(Days::new(120)).unwrap_or(from);
    from.iter_days().find(|day| (day.month(), day.day()) == (2, 29)).unwrap_or(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workday_is_never_a_weekend_a_moving_holiday_or_a_fixed_one() {
        let start = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
        for day in start.iter_days().take(4000) {
            let found = workday(day);
            assert_eq!(found.weekday(), Weekday::Wed);
            assert!((found - day).num_days() < 21, "{day} {found}");
        }
        // 17 May 2028 and 24 December 2031 are Wednesdays.
        assert_eq!(
            workday(NaiveDate::from_ymd_opt(2028, 5, 17).unwrap()),
            NaiveDate::from_ymd_opt(2028, 5, 24).unwrap()
        );
        assert_eq!(
            workday(NaiveDate::from_ymd_opt(2031, 12, 24).unwrap()),
            NaiveDate::from_ymd_opt(2032, 1, 7).unwrap()
        );
    }

    #[test]
    fn each_length_of_a_month_has_a_workday_that_is_not_far() {
        let start = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
        for day in start.iter_days().take(4000) {
            for (days, most) in [(28, 380), (30, 140), (31, 80)] {
                let found = workday_of_month(day, days).unwrap();
                assert_eq!(workday(found), found);
                let ahead = (found - day).num_days();
                assert!((0..most).contains(&ahead), "{day} {days} {found}");
                let length = found.num_days_in_month();
                assert!(length == days || (days, found.month(), length) == (28, 2, 29), "{day} {days}");
            }
        }
        assert_eq!(workday_of_month(start, 29), None);
    }

    #[test]
    fn a_month_ends_on_a_day_on_which_banks_work() {
        let start = NaiveDate::from_ymd_opt(2026, 1, 1).unwrap();
        for day in start.iter_days().take(4000) {
            let found = month_end(day);
            assert_eq!(found.succ_opt().unwrap().day(), 1);
            assert!(!matches!(found.weekday(), Weekday::Sat | Weekday::Sun), "{found}");
            // As far ahead as a date may be that the rules of the spec do not leave open.
            assert!((found - day).num_days() < 200, "{day} {found}");
        }
        // 28 February 2026 is a Saturday, and Easter may be at the end of March.
        let day = NaiveDate::from_ymd_opt(2026, 2, 1).unwrap();
        assert_eq!(month_end(day), NaiveDate::from_ymd_opt(2026, 4, 30).unwrap());
    }

    #[test]
    fn a_year_ends_on_its_last_day() {
        let day = |year, month, day| NaiveDate::from_ymd_opt(year, month, day).unwrap();
        assert_eq!(year_end(day(2026, 1, 1)), day(2026, 12, 31));
        assert_eq!(year_end(day(2026, 12, 31)), day(2026, 12, 31));
        assert_eq!(year_end(day(2027, 1, 1)), day(2027, 12, 31));
    }
}
