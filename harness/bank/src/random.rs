//! Numbers that look random and are the same each time: the generator `SplitMix64`.

/// What it counts by.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Its finaliser: spreads a counter over 64 bits, one to one.
pub(crate) fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(STEP);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// The generator, by its seed.
pub struct Random(pub u64);

impl Random {
    /// A number from 0 on, below this one.
    pub fn below(&mut self, end: usize) -> usize {
        let drawn = mixed(self.0);
        self.0 = self.0.wrapping_add(STEP);
        usize::try_from(drawn % end.max(1) as u64).unwrap_or_default()
    }
}
