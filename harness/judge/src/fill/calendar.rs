//! Dates on which any bank works, or that are special, on or after a given day.

use chrono::{Datelike, Days, NaiveDate, Weekday};

/// Returns the first Wednesday on or after this day that is not a fixed holiday. Holidays that move with
/// Easter, and weekends, fall on other weekdays, so no holiday calendar is needed.
pub(super) fn workday(from: NaiveDate) -> NaiveDate {
    const FIXED: [(u32, u32); 8] = [(1, 1), (5, 1), (5, 17), (6, 23), (12, 24), (12, 25), (12, 26), (12, 31)];
    from.iter_days()
        .find(|day| day.weekday() == Weekday::Wed && !FIXED.contains(&(day.month(), day.day())))
        .unwrap_or(from)
}

/// Returns the first [`workday`] on or after this day in a month with this many days: 30, 31, or 28 for
/// February of any year. Returns None for another number.
pub(super) fn workday_of_month(from: NaiveDate, days: u8) -> Option<NaiveDate> {
    let length = |day: &NaiveDate| if day.month() == 2 { 28 } else { day.num_days_in_month() };
    // A month of each of these lengths is at most a year ahead and has a workday.
    from.iter_days().step_by(7).take(60).map(workday).find(|day| length(day) == days)
}

/// Returns the first last day of a month on or after this day that is a weekday, in a month whose end has no
/// holiday. Easter and Easter Monday may be at the end of March, Ascension and Whitsun at the end of May.
pub(super) fn month_end(from: NaiveDate) -> NaiveDate {
    const HOLIDAYS: [u32; 3] = [3, 5, 12];
    let is_end = |day: &NaiveDate| day.succ_opt().is_some_and(|next| next.month() != day.month());
    let is_weekend = |day: &NaiveDate| matches!(day.weekday(), Weekday::Sat | Weekday::Sun);
    from.iter_days()
        .find(|day| is_end(day) && !is_weekend(day) && !HOLIDAYS.contains(&day.month()))
        .unwrap_or(from)
}

/// Returns the first 31 December on or after this day.
pub(super) fn year_end(from: NaiveDate) -> NaiveDate {
    NaiveDate::from_ymd_opt(from.year(), 12, 31).unwrap_or(from)
}

/// Returns the first 29 February at least 120 days after this day.
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
            // The rules of the document leave dates open that are further ahead.
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
