//! The k smallest of a stream of distances; of equal ones those with the lower indices.

/// The k smallest of the distances offered, ascending.
pub(crate) struct Nearest {
    k: usize,
    best: Vec<(f64, usize)>,
}

impl Nearest {
    pub(crate) fn new(k: usize) -> Self {
        Self { k, best: Vec::with_capacity(k + 1) }
    }

    /// A distance above this, right to nine digits, is not among the k smallest.
    pub(crate) fn bound(&self) -> f64 {
        match self.best.last() {
            Some(worst) if self.best.len() == self.k => worst.0 + worst.0.abs() * 1e-9,
            _ if self.k == 0 => f64::NEG_INFINITY,
            _ => f64::INFINITY,
        }
    }

    pub(crate) fn offer(&mut self, distance: f64, index: usize) {
        let at = self.best.partition_point(|b| b.0 < distance || (b.0 == distance && b.1 < index));
        if at < self.k {
            self.best.insert(at, (distance, index));
            self.best.truncate(self.k);
        }
    }

    /// Calls `offer` with position and distance for each entry of a row of distances that may be among the smallest.
    pub(crate) fn scan(&mut self, line: &[f64], mut offer: impl FnMut(&mut Self, usize, f64)) {
        const CHUNK: usize = 16;
        for (at, chunk) in line.chunks(CHUNK).enumerate() {
            if !any_below(chunk, self.bound()) {
                continue;
            }
            for (&distance, place) in chunk.iter().zip(at * CHUNK..) {
                if distance <= self.bound() {
                    offer(self, place, distance);
                }
            }
        }
    }

    /// Distances and indices, ascending.
    pub(crate) fn best(&self) -> &[(f64, usize)] {
        &self.best
    }

    pub(crate) fn into_best(self) -> Vec<(f64, usize)> {
        self.best
    }

    pub(crate) fn indices(&self) -> Vec<usize> {
        self.best.iter().map(|b| b.1).collect()
    }
}

/// Written so that it is vectorised; most chunks hold nothing.
#[expect(clippy::needless_bitwise_bool, reason = "a branch would keep the loop from being vectorised")]
fn any_below(distances: &[f64], bound: f64) -> bool {
    distances.iter().fold(false, |any, &d| any | (d <= bound))
}
