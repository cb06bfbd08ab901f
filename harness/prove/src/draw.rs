//! Selection by a seed, spread evenly and deterministic.

/// Returns all positions below `all`, each once, in an order that depends on the seed. Neighbors are far
/// apart, so the first positions are spread over all. The stride is near the golden section and coprime with
/// `all` (D. E. Knuth, The Art of Computer Programming 3, section 6.4).
pub(crate) fn positions(all: usize, seed: u64) -> impl Iterator<Item = usize> {
    let start = usize::try_from(seed % (all.max(1) as u64)).unwrap_or_default();
    let stride = (all * 618 / 1000..=all).find(|stride| greatest_divisor(*stride, all) == 1).unwrap_or(1);
    (0..all).map(move |number| (start + number * stride) % all)
}

fn greatest_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_position_comes_once_and_the_first_ones_are_spread() {
        for all in [0, 1, 2, 7, 100, 1362] {
            for seed in [0, 1, u64::MAX] {
                let drawn: Vec<usize> = positions(all, seed).collect();
                let each: BTreeSet<usize> = drawn.iter().copied().collect();
                assert!(each.into_iter().eq(0..all), "{all} {seed}: {drawn:?}");
            }
        }
        let mut first: Vec<usize> = positions(1000, 3).take(10).collect();
        first.sort_unstable();
        assert!(first.windows(2).all(|two| two[1] - two[0] >= 40), "{first:?}");
        assert_ne!(positions(9, 1).next(), positions(9, 2).next());
    }
}
