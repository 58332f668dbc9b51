//! How close the pivoted bases come to the matrix products that they cannot avoid. `cargo bench -p mercer`
//!
//! The limit computes, for pivots that are known beforehand, the same kernel values, products and triangular solves in
//! blocks of 96 pivots and panels of 256 rows. Ratios inside one run are what counts.

use std::time::Instant;

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, MatMut, MatRef, Par};
use mercer::basis::{Method, Threshold};
use mercer::data::synth;
use mercer::{Basis, Kernel, Rows};
use rayon::prelude::*;

const BLOCK: usize = 96;
const PANEL: usize = 256;

fn limit(rows: &Rows, kernel: Kernel, pivots: &[usize]) -> f64 {
    let (n, m) = (rows.n(), pivots.len());
    // Touched before the clock starts: memory is not part of the products.
    let mut g = vec![1.0f64; n * m];
    let start = Instant::now();
    for (at, block) in pivots.chunks(BLOCK).enumerate() {
        let (j, b) = (at * BLOCK, block.len());
        let panel = mercer::kernel::Panel::new(kernel, &rows.select(block));
        let earlier: Vec<f64> = block.iter().flat_map(|&i| g[i * m..i * m + j].to_vec()).collect();
        let unit: Vec<f64> = (0..b * b).map(|i| if i / b == i % b { 1.0 } else { 0.0 }).collect();
        g.par_chunks_mut(PANEL * m).enumerate().for_each(|(at, g)| {
            let h = g.len() / m;
            let mut t = vec![0.0; h * b];
            panel.fill(&rows.slice(at * PANEL..at * PANEL + h), &mut t);
            let mut t = MatMut::from_row_major_slice_mut(&mut t, h, b);
            let (done, rest) = MatMut::from_row_major_slice_mut(g, h, m).split_at_col_mut(j);
            let earlier = MatRef::from_row_major_slice(&earlier, b, j);
            matmul(t.as_mut(), Accum::Add, done.as_ref(), earlier.transpose(), -1.0, Par::Seq);
            let unit = MatRef::from_row_major_slice(&unit, b, b);
            solve_lower_triangular_in_place(unit, t.as_mut().transpose_mut(), Par::Seq);
            rest.subcols_mut(0, b).copy_from(&t);
        });
    }
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[expect(clippy::print_stdout, reason = "the table is what a benchmark is for")]
fn main() {
    println!("{:<12} {:>8} {:>6} {:>9} {:>9} {:>7}", "basis", "n", "m", "seconds", "limit", "ratio");
    for (n, m) in [(2_000, 400), (10_000, 500), (50_000, 500)] {
        let table = synth::generate(&format!("ringnorm?n={n}&seed=1")).expect("rows");
        for method in [Method::Kobl, Method::Rpcholesky, Method::Nystrom, Method::Sparse] {
            let mut settings = Basis::new(method, Kernel::rbf(0.02)).n_components(m);
            settings.threshold = Some(Threshold::Constant(0.0));
            settings.nu = Some(1e-3);
            let (mut own, mut least) = (Vec::new(), Vec::new());
            for _ in 0..5 {
                let start = Instant::now();
                let fitted = settings.fit(&table.rows).expect("fits");
                own.push(start.elapsed().as_secs_f64());
                least.push(limit(&table.rows, Kernel::rbf(0.02), &fitted.pivots));
            }
            let (own, least) = (median(own), median(least));
            println!("{:<12} {n:>8} {m:>6} {own:>9.3} {least:>9.3} {:>7.2}", method.name(), own / least);
        }
    }
}
