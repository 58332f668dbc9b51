//! The kernels as functions: sizes are checked here, once for all callers.

use std::ffi::c_void;
use std::sync::Arc;

use super::library::Address;
use super::{Buffer, Gpu, View};
use crate::error::Result;

/// Numbers that a block of threads takes at a time, where pieces are counted or added up.
pub(crate) const PIECE: usize = 1_024;

/// Pivots that can be planned at a time.
pub(crate) const MOST_PIVOTS: usize = 1_024;

/// Every kernel's name.
pub(super) const NAMES: [&str; 40] = [
    "widen",
    "narrow",
    "fill",
    "identity",
    "first_not_finite",
    "hashes",
    "squared_norms",
    "shifted",
    "unit_length",
    "from_distances",
    "from_products",
    "from_differences",
    "take",
    "gather",
    "spread",
    "put",
    "set_flag",
    "digits",
    "count_above",
    "list_above",
    "largest",
    "first_at_least",
    "sums",
    "passes",
    "greedy",
    "one_by_one",
    "pivots_factor",
    "row_sizes",
    "copy",
    "mirror",
    "with_targets",
    "subtract",
    "apart",
    "deciding",
    "frame",
    "differences",
    "nearest",
    "closer",
    "closer_by_differences",
    "merge_listed",
];

/// A kernel's formula, by the number that `kernels.cu` has for it, and its parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GpuShape {
    pub(crate) number: u32,
    pub(crate) gamma: f64,
    /// coef0 or alpha.
    pub(crate) parameter: f64,
    pub(crate) degree: u32,
}

/// Rows that are left out: by flags, and where no more than the floor is left of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closed<'b> {
    pub(crate) flags: &'b Buffer<u8>,
    pub(crate) mask: u32,
    pub(crate) floor: f64,
}

/// The list that each query of a tile has a place in.
pub(crate) struct Slots {
    numbers: Buffer<u32>,
    /// They are all below it.
    below: usize,
}

/// Rows that were found to be closer than the farthest in the lists.
pub(crate) struct Listed {
    counts: Buffer<u32>,
    keys: Buffer<u64>,
    full: Buffer<u32>,
}

/// Rows that can be listed for a query.
pub(crate) const MOST_LISTED: usize = 2_048;

/// Rows and queries of a tile that a block compares at a time.
const TILE: usize = 128;

/// An argument of a kernel.
enum Argument {
    Address(Address),
    Long(u64),
    Int(u32),
    Double(f64),
    Float(f32),
}

trait IntoArgument {
    fn argument(self) -> Argument;
}

macro_rules! arguments {
    ($($kind:ty => $case:ident),*) => {
        $(impl IntoArgument for $kind {
            fn argument(self) -> Argument {
                Argument::$case(self)
            }
        })*
    };
}
arguments!(u64 => Long, u32 => Int, f64 => Double, f32 => Float);

impl<T> IntoArgument for &Buffer<T> {
    fn argument(self) -> Argument {
        Argument::Address(self.address)
    }
}

impl IntoArgument for View<'_> {
    fn argument(self) -> Argument {
        Argument::Address(self.address())
    }
}

impl<T> IntoArgument for Option<&Buffer<T>> {
    fn argument(self) -> Argument {
        Argument::Address(self.map_or(0, |buffer| buffer.address))
    }
}

macro_rules! pass {
    ($($argument:expr),* $(,)?) => { &mut [$(IntoArgument::argument($argument)),*] };
}

/// Threads of a block.
const THREADS: usize = 256;

impl Gpu {
    /// Starts a kernel: blocks across and down, threads of a block.
    fn launch(
        &self,
        name: &str,
        blocks: (usize, usize),
        threads: usize,
        arguments: &mut [Argument],
    ) -> Result<()> {
        let found = self.functions.iter().find(|(own, _)| *own == name);
        let Some(&(_, function)) = found else { unreachable!("`{name}` is not a kernel") };
        let mut places: Vec<*mut c_void> = arguments
            .iter_mut()
            .map(|argument| match argument {
                Argument::Address(v) | Argument::Long(v) => std::ptr::from_mut(v).cast(),
                Argument::Int(v) => std::ptr::from_mut(v).cast(),
                Argument::Double(v) => std::ptr::from_mut(v).cast(),
                Argument::Float(v) => std::ptr::from_mut(v).cast(),
            })
            .collect();
        self.enter()?;
        let (across, down) = (blocks.0.max(1) as u32, blocks.1.clamp(1, 65_535) as u32);
        // SAFETY: the arguments are those that the kernel is declared with, and the callers below have compared the sizes.
        let code = unsafe {
            (self.libraries.driver.launch)(
                function,
                across,
                down,
                1,
                threads as u32,
                1,
                1,
                0,
                self.stream,
                places.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        self.check(code, name)
    }

    /// Blocks for a loop over so many numbers.
    fn blocks(&self, numbers: usize, a_block: usize) -> (usize, usize) {
        (numbers.div_ceil(a_block).clamp(1, 32 * self.multiprocessors as usize), 1)
    }

    fn each(&self, name: &str, numbers: usize, arguments: &mut [Argument]) -> Result<()> {
        if numbers == 0 {
            return Ok(());
        }
        self.launch(name, self.blocks(numbers, THREADS), THREADS, arguments)
    }

    fn each_row(&self, name: &str, rows: usize, arguments: &mut [Argument]) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        self.launch(name, self.blocks(rows, 8), THREADS, arguments)
    }

    /// Float32 numbers in float64.
    pub(crate) fn widen(&self, x: &Buffer<f32>, out: &Buffer<f64>) -> Result<()> {
        assert!(x.len <= out.len);
        self.each("widen", x.len, pass![x, out, x.len as u64])
    }

    /// Float64 numbers in float32.
    pub(crate) fn narrow(&self, x: View, out: &Buffer<f32>, at: usize) -> Result<()> {
        let many = x.rows * x.columns;
        assert!(x.stride == x.rows && at + many <= out.len);
        let to = out.address + 4 * at as u64;
        self.each("narrow", many, &mut [x.argument(), Argument::Address(to), Argument::Long(many as u64)])
    }

    pub(crate) fn fill(&self, x: &Buffer<f64>, value: f64) -> Result<()> {
        self.each("fill", x.len, pass![x, value, x.len as u64])
    }

    pub(crate) fn identity(&self, x: &Buffer<f64>, m: usize) -> Result<()> {
        assert!(m * m <= x.len);
        self.each("identity", m * m, pass![x, m as u32])
    }

    /// The place of the first of these numbers that is not finite is written to `place`, which holds the largest number.
    pub(crate) fn first_not_finite(&self, x: &Buffer<f64>, place: &Buffer<u64>) -> Result<()> {
        assert!(place.len >= 1);
        self.each("first_not_finite", x.len, pass![x, x.len as u64, place])
    }

    pub(crate) fn hashes(&self, x: View, out: &Buffer<u64>) -> Result<()> {
        assert!(x.stride == x.rows.max(1) && x.columns <= out.len);
        self.each_row("hashes", x.columns, pass![x, x.columns as u64, x.rows as u32, out])
    }

    pub(crate) fn squared_norms(&self, x: View, out: &Buffer<f64>) -> Result<()> {
        assert!(x.stride == x.rows.max(1) && x.columns <= out.len);
        self.each_row("squared_norms", x.columns, pass![x, x.columns as u64, x.rows as u32, out])
    }

    /// u = root·(x − shift), and ‖u‖².
    pub(crate) fn shifted(
        &self,
        x: View,
        shift: &Buffer<f64>,
        root: f64,
        u: &Buffer<f64>,
        norms: &Buffer<f64>,
    ) -> Result<()> {
        let (p, n) = (x.rows, x.columns);
        assert!(x.stride == p && p <= shift.len && n * p <= u.len && n <= norms.len);
        self.each_row("shifted", n, pass![x, shift, root, n as u64, p as u32, u, norms])
    }

    pub(crate) fn unit_length(&self, x: View, u: &Buffer<f64>) -> Result<()> {
        let (p, n) = (x.rows, x.columns);
        assert!(x.stride == p && n * p <= u.len);
        self.each_row("unit_length", n, pass![x, n as u64, p as u32, u])
    }

    /// Kernel values from −2⟨u,v⟩, in place.
    pub(crate) fn values_from_distances(
        &self,
        s: View,
        (landmark_norms, row_norms): (&Buffer<f64>, &Buffer<f64>),
        (landmarks, rows): (View, View),
        root: f64,
        shape: GpuShape,
    ) -> Result<()> {
        let (l, n, p) = (s.rows, s.columns, rows.rows);
        assert!(landmarks.rows == p && landmarks.stride == p && rows.stride == p);
        assert!(landmarks.columns == l && rows.columns == n && l <= landmark_norms.len && n <= row_norms.len);
        let arguments = pass![
            s,
            s.stride as u64,
            landmark_norms,
            row_norms,
            landmarks,
            rows,
            l as u32,
            n as u64,
            p as u32,
            root,
            shape.number,
            shape.parameter,
        ];
        self.over_values("from_distances", l, n, arguments)
    }

    /// Kernel values from products, in place.
    pub(crate) fn values_from_products(&self, s: View, shape: GpuShape) -> Result<()> {
        let GpuShape { number, gamma, parameter, degree } = shape;
        let (l, n) = (s.rows, s.columns);
        let arguments = pass![s, s.stride as u64, l as u32, n as u64, number, gamma, parameter, degree];
        self.over_values("from_products", l, n, arguments)
    }

    /// exp(−γ‖x−y‖₁).
    pub(crate) fn values_from_differences(
        &self,
        s: View,
        landmarks: View,
        rows: View,
        gamma: f64,
    ) -> Result<()> {
        let (l, n, p) = (s.rows, s.columns, rows.rows);
        assert!(landmarks.rows == p && landmarks.stride == p && rows.stride == p);
        assert!(landmarks.columns == l && rows.columns == n);
        if l == 0 || n == 0 {
            return Ok(());
        }
        let arguments = pass![s, s.stride as u64, landmarks, rows, l as u32, n as u64, p as u32, gamma];
        self.launch("from_differences", (l.div_ceil(64), n.div_ceil(64)), THREADS, arguments)
    }

    /// One thread a value: rows of a matrix across, its columns down.
    fn over_values(&self, name: &str, l: usize, n: usize, arguments: &mut [Argument]) -> Result<()> {
        if l == 0 || n == 0 {
            return Ok(());
        }
        let threads = l.next_multiple_of(32).min(THREADS);
        self.launch(name, (l.div_ceil(threads), n), threads, arguments)
    }

    /// What new columns leave of the rows from this one on; the first row of which less than the limit is left is written to
    /// `bad`.
    pub(crate) fn take(
        &self,
        g: View,
        residual: &Buffer<f64>,
        first: usize,
        limit: f64,
        bad: &Buffer<u64>,
    ) -> Result<()> {
        let (b, n) = (g.rows, g.columns);
        assert!(first + n <= residual.len && bad.len >= 1);
        let from = residual.address + 8 * first as u64;
        self.each_row(
            "take",
            n,
            &mut [
                g.argument(),
                Argument::Long(g.stride as u64),
                Argument::Int(b as u32),
                Argument::Address(from),
                Argument::Long(n as u64),
                Argument::Double(limit),
                bad.argument(),
                Argument::Long(first as u64),
            ],
        )
    }

    /// Columns by their indices, which must be below `x.columns`.
    pub(crate) fn gather(&self, x: View, index: &[usize], out: View) -> Result<()> {
        let (h, p) = (index.len(), x.rows);
        assert!(
            index.iter().all(|&i| i < x.columns)
                && out.rows == p
                && out.columns >= h
                && out.stride == p.max(1)
        );
        let index = x.gpu().upload(&short(index))?;
        self.over_values("gather", p, h, pass![x, x.stride as u64, &index, h as u32, p as u32, out])
    }

    /// Columns to their places, none of them named twice.
    pub(crate) fn spread(&self, from: &Buffer<f64>, index: &[usize], to: View) -> Result<()> {
        let (h, p) = (index.len(), to.rows);
        assert!(h * p <= from.len && index.iter().all(|&i| i < to.columns));
        let index = from.gpu.upload(&short(index))?;
        self.each("spread", h * p, pass![from, &index, h as u32, p as u32, to, to.stride as u64])
    }

    /// The same number at these places.
    pub(crate) fn put(&self, x: &Buffer<f64>, index: &[usize], number: f64) -> Result<()> {
        assert!(index.iter().all(|&i| i < x.len));
        let index = x.gpu.upload(&short(index))?;
        self.each("put", index.len, pass![x, &index, index.len as u32, number])
    }

    /// Sets or clears a flag at these places, none of them named twice.
    pub(crate) fn set_flag(&self, flags: &Buffer<u8>, index: &[usize], flag: u32, on: bool) -> Result<()> {
        assert!(index.iter().all(|&i| i < flags.len));
        let index = flags.gpu.upload(&short(index))?;
        self.each("set_flag", index.len, pass![flags, &index, index.len as u32, flag, u32::from(on)])
    }

    /// How many rows have each digit.
    pub(crate) fn digits(
        &self,
        x: &Buffer<f64>,
        closed: Closed,
        earlier: u64,
        (shift, bits): (u32, u32),
        counts: &Buffer<u32>,
    ) -> Result<()> {
        assert!(closed.flags.len >= x.len && bits <= 11 && counts.len >= 1 << bits);
        let Closed { flags, mask, floor } = closed;
        let arguments = pass![x, flags, mask, floor, x.len as u64, earlier, shift, bits, counts];
        self.launch("digits", self.blocks(x.len, 8 * THREADS), THREADS, arguments)
    }

    /// The rows with more than `least`, ascending, and the first `most` of those with just as much.
    pub(crate) fn rows_above(
        &self,
        x: &Buffer<f64>,
        closed: Closed,
        least: f64,
        most: usize,
    ) -> Result<(Vec<u32>, Vec<u32>)> {
        let pieces = x.len.div_ceil(PIECE);
        assert!(closed.flags.len >= x.len);
        let Closed { flags, mask, floor } = closed;
        let (above, equal) = (x.gpu.room::<u32>(pieces)?, x.gpu.room::<u32>(pieces)?);
        let arguments = pass![x, flags, mask, floor, x.len as u64, least, &above, &equal];
        self.launch("count_above", (pieces, 1), THREADS, arguments)?;
        let from = |counts: Vec<u32>| {
            let mut sum = 0;
            let before = |count: &u32| {
                sum += count;
                sum - count
            };
            let before: Vec<u32> = counts.iter().map(before).collect();
            (before, sum as usize)
        };
        let ((above_from, all), (equal_from, all_equal)) = (from(above.to_vec()?), from(equal.to_vec()?));
        let (above_from, equal_from) = (x.gpu.upload(&above_from)?, x.gpu.upload(&equal_from)?);
        let most = most.min(all_equal);
        let (above, equal) = (x.gpu.room::<u32>(all)?, x.gpu.room::<u32>(most)?);
        let arguments = pass![
            x,
            flags,
            mask,
            floor,
            x.len as u64,
            least,
            &above_from,
            &equal_from,
            most as u32,
            &above,
            &equal,
        ];
        self.launch("list_above", (pieces, 1), THREADS, arguments)?;
        Ok((above.to_vec()?, equal.to_vec()?))
    }

    /// The largest number of rows that are not closed by flags; −1 if there is none.
    pub(crate) fn largest(&self, x: &Buffer<f64>, flags: &Buffer<u8>, mask: u32) -> Result<f64> {
        assert!(flags.len >= x.len);
        let blocks = self.blocks(x.len, 4 * THREADS);
        let out = x.gpu.room::<f64>(blocks.0)?;
        self.launch("largest", blocks, THREADS, pass![x, flags, mask, x.len as u64, &out])?;
        Ok(out.to_vec()?.into_iter().fold(-1.0, f64::max))
    }

    /// The first row that is not closed by flags, with at least this number.
    pub(crate) fn first_at_least(
        &self,
        x: &Buffer<f64>,
        flags: &Buffer<u8>,
        mask: u32,
        least: f64,
    ) -> Result<Option<usize>> {
        assert!(flags.len >= x.len);
        let place = x.gpu.upload(&[u64::MAX])?;
        self.each("first_at_least", x.len, pass![x, flags, mask, x.len as u64, least, &place])?;
        let found = place.first(1)?[0];
        Ok((found < x.len as u64).then_some(found as usize))
    }

    /// The sum of each piece.
    pub(crate) fn sums(&self, x: &Buffer<f64>, closed: Closed) -> Result<Vec<f64>> {
        assert!(closed.flags.len >= x.len);
        let pieces = x.len.div_ceil(PIECE);
        let out = x.gpu.room::<f64>(pieces)?;
        let Closed { flags, mask, floor } = closed;
        self.launch("sums", (pieces, 1), THREADS, pass![x, flags, mask, floor, x.len as u64, &out])?;
        out.to_vec()
    }

    /// The places at which running sums of pieces pass targets.
    pub(crate) fn passes(
        &self,
        x: &Buffer<f64>,
        closed: Closed,
        pieces: &[u32],
        targets: &[f64],
    ) -> Result<Vec<u32>> {
        assert!(closed.flags.len >= x.len && pieces.len() == targets.len());
        assert!(pieces.iter().all(|&piece| (piece as usize) * PIECE < x.len));
        let (piece, target) = (x.gpu.upload(pieces)?, x.gpu.upload(targets)?);
        let out = x.gpu.room::<u32>(pieces.len())?;
        let Closed { flags, mask, floor } = closed;
        let arguments =
            pass![x, flags, mask, floor, x.len as u64, &piece, &target, pieces.len() as u32, &out];
        self.launch("passes", (pieces.len().div_ceil(32).max(1), 1), 32, arguments)?;
        out.to_vec()
    }

    /// Makes the candidate with the largest residual the k-th pivot.
    pub(crate) fn greedy(
        &self,
        s: View,
        c: &Buffer<f64>,
        k: usize,
        (rows, tie): (&Buffer<u32>, f64),
        (before, after): (&Buffer<f64>, &Buffer<f64>),
        (chosen, squares): (&Buffer<u32>, &Buffer<f64>),
    ) -> Result<()> {
        let h = s.rows;
        assert!(s.columns == h && s.stride == h && (k + 1) * h <= c.len && k < MOST_PIVOTS);
        assert!(
            h <= rows.len && h <= before.len && h <= after.len && k < chosen.len && 2 * k + 1 < squares.len
        );
        let arguments = pass![s, h as u32, c, k as u32, rows, tie, before, after, chosen, squares];
        self.launch("greedy", (h.div_ceil(32), 1), THREADS, arguments)
    }

    /// Makes the candidate at a place a pivot if more than `least` is left of it and there are fewer than `most`.
    pub(crate) fn one_by_one(
        &self,
        s: View,
        c: &Buffer<f64>,
        (place, least, most): (usize, f64, usize),
        (counts, at): (&Buffer<u32>, usize),
        (before, after): (&Buffer<f64>, &Buffer<f64>),
        chosen: &Buffer<u32>,
    ) -> Result<()> {
        let h = s.rows;
        assert!(
            s.columns == h && s.stride == h && most * h <= c.len && most <= MOST_PIVOTS && most <= chosen.len
        );
        assert!(place < h && h <= before.len && h <= after.len && at + 1 < counts.len);
        let count = counts.address + 4 * at as u64;
        self.launch(
            "one_by_one",
            (h.div_ceil(32), 1),
            THREADS,
            &mut [
                s.argument(),
                Argument::Int(h as u32),
                c.argument(),
                Argument::Int(place as u32),
                Argument::Double(least),
                Argument::Int(most as u32),
                Argument::Address(count),
                Argument::Address(count + 4),
                before.argument(),
                after.argument(),
                chosen.argument(),
            ],
        )
    }

    /// The Cholesky factor of chosen candidates' residuals, b×b.
    pub(crate) fn pivots_factor(
        &self,
        c: &Buffer<f64>,
        h: usize,
        chosen: &[usize],
        l: &Buffer<f64>,
    ) -> Result<()> {
        let b = chosen.len();
        assert!(b * h <= c.len && b * b <= l.len && chosen.iter().all(|&at| at < h));
        let chosen = c.gpu.upload(&short(chosen))?;
        self.each("pivots_factor", b * b, pass![c, h as u32, &chosen, b as u32, l])
    }

    /// Σ|a| of each row.
    pub(crate) fn row_sizes(&self, a: View) -> Result<Vec<f64>> {
        let out = a.gpu().room::<f64>(a.rows)?;
        self.each("row_sizes", a.rows, pass![a, a.stride as u64, a.rows as u32, a.columns as u32, &out])?;
        out.to_vec()
    }

    /// Copies the lower half of a square matrix to the upper one.
    pub(crate) fn mirror(&self, a: View) -> Result<()> {
        assert_eq!(a.rows, a.columns);
        self.each("mirror", a.rows * a.rows, pass![a, a.stride as u64, a.rows as u32])
    }

    /// A matrix, times a factor, into another of its size.
    pub(crate) fn copy(&self, from: View, to: View, factor: f64) -> Result<()> {
        let (rows, columns) = (from.rows, from.columns);
        assert!((rows, columns) == (to.rows, to.columns));
        let arguments =
            pass![from, from.stride as u64, to, to.stride as u64, rows as u32, columns as u64, factor];
        self.over_values("copy", rows, columns, arguments)
    }

    /// Features about a point, with targets below them: one-hot codes from the row `first` on, or c numbers a row.
    pub(crate) fn with_targets(
        &self,
        z: View,
        shift: &Buffer<f64>,
        first: usize,
        (codes, numbers): (Option<&Buffer<u32>>, Option<&Buffer<f64>>),
        c: usize,
        w: &Buffer<f64>,
    ) -> Result<()> {
        let (m, n) = (z.rows, z.columns);
        assert!(m + c <= shift.len && (m + c) * n <= w.len);
        assert!(c == 0 || codes.is_some() || numbers.is_some());
        assert!(codes.is_none_or(|codes| first + n <= codes.len));
        assert!(numbers.is_none_or(|numbers| (first + n) * c <= numbers.len));
        self.over_values(
            "with_targets",
            m + c,
            n,
            &mut [
                z.argument(),
                Argument::Long(z.stride as u64),
                shift.argument(),
                Argument::Int(m as u32),
                Argument::Long(n as u64),
                Argument::Address(codes.map_or(0, |codes| codes.address + 4 * first as u64)),
                Argument::Address(numbers.map_or(0, |numbers| numbers.address + 8 * (first * c) as u64)),
                Argument::Int(c as u32),
                w.argument(),
            ],
        )
    }

    /// (x − y)·weight of columns, in the place of x.
    pub(crate) fn apart(&self, x: View, y: View, weights: &[f64]) -> Result<()> {
        let (rows, columns) = (x.rows, x.columns);
        assert!((rows, columns) == (y.rows, y.columns) && columns == weights.len());
        let weights = x.gpu().upload(weights)?;
        let arguments = pass![x, x.stride as u64, y, y.stride as u64, &weights, rows as u32, columns as u64];
        self.over_values("apart", rows, columns, arguments)
    }

    /// z − b.
    pub(crate) fn subtract(&self, z: View, b: &Buffer<f64>) -> Result<()> {
        assert!(z.rows <= b.len);
        self.over_values(
            "subtract",
            z.rows,
            z.columns,
            pass![z, z.stride as u64, b, z.rows as u32, z.columns as u64],
        )
    }

    /// For each feature the first value that equals the largest in magnitude up to rounding, and that largest.
    pub(crate) fn deciding(&self, z: View, equal: f64) -> Result<(Vec<f64>, Vec<f64>)> {
        let (first, most) = (z.gpu().room::<f64>(z.rows)?, z.gpu().room::<f64>(z.rows)?);
        if z.rows > 0 {
            let arguments = pass![z, z.stride as u64, z.columns as u64, equal, &first, &most];
            self.launch("deciding", (z.rows, 1), THREADS, arguments)?;
        }
        Ok((first.to_vec()?, most.to_vec()?))
    }

    /// Rows in float32 about an origin, in this order, and their sizes, from the place `at` on.
    pub(crate) fn frame(
        &self,
        x: View,
        (shift, unit, manhattan): (&Buffer<f64>, f64, bool),
        order: &[u32],
        (out, sizes, at): (&Buffer<f32>, &Buffer<f32>, usize),
    ) -> Result<()> {
        let (p, n) = (x.rows, order.len());
        assert!(x.stride == p.max(1) && p <= shift.len && (at + n) * p <= out.len && at + n <= sizes.len);
        assert!(order.iter().all(|&i| (i as usize) < x.columns));
        let order = x.gpu().upload(order)?;
        self.each_row(
            "frame",
            n,
            &mut [
                x.argument(),
                Argument::Int(p as u32),
                shift.argument(),
                Argument::Double(unit),
                Argument::Int(u32::from(manhattan)),
                IntoArgument::argument(&order),
                Argument::Long(n as u64),
                Argument::Address(out.address + 4 * (at * p) as u64),
                Argument::Address(sizes.address + 4 * at as u64),
            ],
        )
    }

    /// ‖x−y‖₁ of some rows of the base and some queries.
    pub(crate) fn differences(
        &self,
        p: usize,
        (base, from_base, l): (&Buffer<f32>, usize, usize),
        (queries, from_query, n): (&Buffer<f32>, usize, usize),
        out: &Buffer<f32>,
        stride: usize,
    ) -> Result<()> {
        assert!(
            (from_base + l) * p <= base.len && (from_query + n) * p <= queries.len && n * stride <= out.len
        );
        assert!(l <= stride);
        self.launch(
            "differences",
            (l.div_ceil(64), n.div_ceil(64)),
            THREADS,
            &mut [
                out.argument(),
                Argument::Long(stride as u64),
                Argument::Address(base.address + 4 * (from_base * p) as u64),
                Argument::Address(queries.address + 4 * (from_query * p) as u64),
                Argument::Int(l as u32),
                Argument::Long(n as u64),
                Argument::Int(p as u32),
            ],
        )
    }

    /// The lists of queries.
    pub(crate) fn slots(self: &Arc<Self>, slots: &[u32]) -> Result<Slots> {
        let below = slots.iter().max().map_or(0, |&slot| slot as usize + 1);
        Ok(Slots { numbers: self.upload(slots)?, below })
    }

    /// The smallest distances so far and those of another piece of the base, of n queries.
    pub(crate) fn nearest(
        &self,
        (s, stride, n): (&Buffer<f32>, usize, usize),
        (first, l, sizes): (usize, usize, &Buffer<f32>),
        whole: f32,
        slots: &Slots,
        (room, best): (usize, &Buffer<u64>),
    ) -> Result<()> {
        assert!(n * stride <= s.len && l <= stride && first + l <= sizes.len && n == slots.numbers.len);
        assert!((1..=1_024).contains(&room) && slots.below * room <= best.len);
        self.launch(
            "nearest",
            (n, 1),
            THREADS,
            &mut [
                s.argument(),
                Argument::Long(stride as u64),
                Argument::Int(l as u32),
                Argument::Int(first as u32),
                Argument::Address(sizes.address + 4 * first as u64),
                Argument::Float(whole),
                IntoArgument::argument(&slots.numbers),
                Argument::Int(room as u32),
                best.argument(),
            ],
        )
    }

    /// Room to list rows for so many queries.
    pub(crate) fn listed(self: &Arc<Self>, queries: usize) -> Result<Listed> {
        Ok(Listed {
            counts: self.room(queries)?,
            keys: self.room(queries * MOST_LISTED)?,
            full: self.room(1)?,
        })
    }

    /// The smallest distances so far and those of more of the base, whose rows are compared without distances in between. False,
    /// and nothing is changed, if too many rows are closer than the farthest so far.
    pub(crate) fn closer(
        &self,
        p: usize,
        (base, sizes, first, l): (&Buffer<f32>, &Buffer<f32>, usize, usize),
        (queries, manhattan): (&Buffer<f32>, bool),
        slots: &Slots,
        (room, best): (usize, &Buffer<u64>),
        listed: &Listed,
    ) -> Result<bool> {
        let n = slots.numbers.len;
        assert!((first + l) * p <= base.len && first + l <= sizes.len && n * p <= queries.len);
        assert!(u32::try_from(l + TILE * TILE * 32).is_ok(), "{l} rows");
        assert!((1..=1_024).contains(&room) && slots.below * room <= best.len);
        assert!(n <= listed.counts.len && n * MOST_LISTED <= listed.keys.len);
        listed.counts.clear()?;
        listed.full.clear()?;
        let down = n.div_ceil(TILE);
        let across = l.div_ceil(TILE).min((16 * self.multiprocessors as usize).div_ceil(down.max(1)));
        self.launch(
            if manhattan { "closer_by_differences" } else { "closer" },
            (across, down),
            THREADS,
            &mut [
                Argument::Address(base.address + 4 * (first * p) as u64),
                Argument::Int(l as u32),
                Argument::Int(first as u32),
                Argument::Address(sizes.address + 4 * first as u64),
                queries.argument(),
                Argument::Int(n as u32),
                Argument::Int(p as u32),
                IntoArgument::argument(&slots.numbers),
                Argument::Int(room as u32),
                best.argument(),
                IntoArgument::argument(&listed.counts),
                IntoArgument::argument(&listed.keys),
                IntoArgument::argument(&listed.full),
            ],
        )?;
        let Listed { counts, keys, full } = listed;
        let arguments = pass![counts, keys, full, &slots.numbers, room as u32, best];
        self.launch("merge_listed", (n, 1), THREADS, arguments)?;
        Ok(full.first(1)?[0] == 0)
    }
}

/// Indices as the GPU has them.
fn short(index: &[usize]) -> Vec<u32> {
    index.iter().map(|&i| i as u32).collect()
}
