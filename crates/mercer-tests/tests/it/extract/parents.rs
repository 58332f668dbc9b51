//! With the linear kernel every extractor is its linear parent, here by another way than the references': equations
//! are checked as they stand, scatters come from graphs or from what is left within classes.

use mercer::basis::Method;
use mercer::extract::{Directions, Extractor, Gda, Kanmm, Klfe, Kmfa, Koc, Kpca, Kpls};
use mercer::{Basis, FeatureMap, Kernel};

use crate::extract::{Case, assert_close, case, cases, classes, features, fit};
use crate::kernel::rows;
use crate::naive::extractors as slow;
use crate::naive::{self, Matrix};

/// Fitted with the linear kernel: the map and, one a row, the directions in the space of the inputs.
fn linear(extractor: &Extractor, case: &Case) -> (FeatureMap, Directions, Matrix) {
    let x = rows(&case.x);
    let basis = Basis::new(Method::GramSchmidt, Kernel::linear()).fit(&x).expect("fits");
    let (map, found) = fit(extractor, &x, &classes(&case.codes), &basis);
    // f(e_j) − f(0) is what input j adds.
    let p = case.x[0].len();
    let mut probes = naive::identity(p);
    probes.push(vec![0.0; p]);
    let f = features(&map, &rows(&probes));
    let slope = |q: usize| (0..p).map(|j| f[j][q] - f[p][q]).collect();
    let directions = (0..map.n_features()).map(slope).collect();
    (map, found, directions)
}

/// vᵀAw.
fn form(v: &[f64], a: &Matrix, w: &[f64]) -> f64 {
    naive::dot(v, &naive::matvec(a, w))
}

/// A v = λ T v and vᵀTw = 1 or 0, checked as they stand, and the λ are the leading ones.
fn assert_solves(a: &Matrix, t: &Matrix, directions: &Matrix, values: &[f64], what: &str) {
    assert!(values.is_sorted_by(|x, y| x >= y), "{what}");
    for (i, v) in directions.iter().enumerate() {
        let right: Vec<f64> = naive::matvec(t, v).iter().map(|x| values[i] * x).collect();
        let left = naive::matvec(a, v);
        let rest: Vec<f64> = left.iter().zip(&right).map(|(a, b)| a - b).collect();
        let size = naive::frobenius(a) * naive::dot(v, v).sqrt();
        assert!(naive::dot(&rest, &rest).sqrt() < 1e-8 * size, "{what}: A v = λ T v, direction {i}");
        for (j, w) in directions.iter().enumerate() {
            let expected = f64::from(u8::from(i == j));
            assert!((form(v, t, w) - expected).abs() < 1e-8, "{what}: vᵀTw of {i} and {j}");
        }
    }
    // No direction does better than the leading ones: T^{-1}A has trace = the sum of all eigenvalues.
    let solved = naive::solve(t, a);
    let rank = naive::matmul(&solved, &solved);
    let (sum, squares) = (naive::trace(&solved), naive::trace(&rank));
    if values.len() == a.len() {
        assert!((values.iter().sum::<f64>() - sum).abs() < 1e-8 * sum.abs().max(squares.sqrt()), "{what}");
    } else {
        assert!(values.iter().map(|v| v * v).sum::<f64>() <= squares * (1.0 + 1e-9), "{what}");
    }
}

#[test]
fn gda_with_the_linear_kernel_is_lda() {
    for case in cases() {
        for reg in [0.0, 1e-3, 0.5] {
            let (_, found, directions) = linear(&Extractor::from(Gda { n_components: None, reg }), &case);
            let what = format!("{}, reg {reg}", case.name);
            let t = slow::regularised(&slow::total_scatter(&case.x), reg);
            // Σ x xᵀ over rows less that within classes, so S_b is not the reference's own sum.
            let mut within = naive::zeros(case.x[0].len(), case.x[0].len());
            for class in 0..slow::classes_of(&case.codes) {
                let members: Vec<Vec<f64>> = (0..case.x.len())
                    .filter(|&i| case.codes[i] == class)
                    .map(|i| case.x[i].clone())
                    .collect();
                let own = slow::total_scatter(&members);
                within =
                    naive::subtract(&within, &own.iter().map(|r| r.iter().map(|v| -v).collect()).collect());
            }
            let between = naive::subtract(&slow::total_scatter(&case.x), &within);
            assert_solves(&between, &t, &directions, &found.eigenvalues, &what);
            let all = naive::trace(&naive::solve(&t, &between));
            assert!((found.eigenvalues.iter().sum::<f64>() - all).abs() < 1e-8 * all, "{what}: all of them");
            if slow::classes_of(&case.codes) == 2 {
                // Fisher: along T⁻¹(x̄₁ − x̄₀).
                let means = slow::class_means(&case.x, &case.codes);
                let step: Matrix = (0..means[0].len()).map(|j| vec![means[1][j] - means[0][j]]).collect();
                let fisher = naive::solve(&t, &step).concat();
                let cosine = naive::dot(&fisher, &directions[0])
                    / (naive::dot(&fisher, &fisher) * naive::dot(&directions[0], &directions[0])).sqrt();
                assert!((cosine.abs() - 1.0).abs() < 1e-10, "{what}: {cosine}");
            }
        }
    }
}

#[test]
fn koc_with_the_linear_kernel_projects_on_the_span_of_the_centroids() {
    for case in cases() {
        let (map, found, directions) = linear(&Extractor::from(Koc::default()), &case);
        assert!(found.eigenvalues.is_empty() && found.explained.is_empty() && found.warnings.is_empty());
        // P = Mᵀ(M Mᵀ)⁻¹M with the centroids as rows of M.
        let means = slow::class_means(&case.x, &case.codes);
        let gram = naive::matmul(&means, &naive::transpose(&means));
        let projector = naive::matmul(&naive::transpose(&means), &naive::solve(&gram, &means));
        let own = naive::matmul(&naive::transpose(&directions), &directions);
        assert_close(&own.concat(), &projector.concat(), 1e-8, case.name);
        // The first k directions span the first k centroids: later features of earlier centroids are 0.
        let at_means = features(&map, &rows(&means));
        for c in 0..means.len() {
            for q in c + 1..means.len() {
                assert!(at_means[c][q].abs() < 1e-9 * naive::max_abs(&at_means), "{}, {c} {q}", case.name);
            }
        }
    }
}

#[test]
fn kpls_with_the_linear_kernel_spans_the_krylov_space_of_pls() {
    // PLS of one target: the scores span {s, Ss, S²s, …}, s = Xᵀy, and the first is along s.
    let mut case = case("two classes", 50, 4, 2, 360);
    case.name = "two classes";
    let (_, found, directions) = linear(&Extractor::from(Kpls { n_components: Some(3) }), &case);
    let x = naive::center_columns(&case.x);
    let y: Vec<f64> = case.codes.iter().map(|&c| c as f64).collect();
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let centred: Vec<f64> = y.iter().map(|v| v - mean).collect();
    let s = naive::matvec(&naive::transpose(&x), &centred);
    let scatter = slow::total_scatter(&case.x);
    let mut krylov = vec![s.clone()];
    for _ in 0..2 {
        krylov.push(naive::matvec(&scatter, krylov.last().expect("one")));
    }
    for q in 1..=3 {
        let [a, b] = [directions[..q].to_vec(), krylov[..q].to_vec()].map(|rows| {
            let basis = slow::orthonormal(&rows);
            assert_eq!(basis.len(), q);
            naive::matmul(&naive::transpose(&basis), &basis).concat()
        });
        assert_close(&a, &b, 1e-6, &format!("the span of {q}"));
    }
    // One-hot columns of two classes are opposite: twice the square of one.
    assert!((found.eigenvalues[0] - 2.0 * naive::dot(&s, &s)).abs() < 1e-9 * found.eigenvalues[0]);
    // Enough components leave the residuals of least squares.
    let (map, _, _) = linear(&Extractor::from(Kpls { n_components: Some(4) }), &case);
    let scores = features(&map, &rows(&case.x));
    let fit_by = |z: &Matrix| {
        let normal = slow::sum_of_products(z, z);
        let right: Matrix = naive::matvec(&naive::transpose(z), &centred).iter().map(|v| vec![*v]).collect();
        naive::matvec(z, &naive::solve(&normal, &right).concat())
    };
    assert_close(&fit_by(&scores), &fit_by(&x), 1e-8, "fitted values");
}

#[test]
fn kpca_with_the_linear_kernel_is_pca() {
    for case in cases() {
        for center in [true, false] {
            let (map, found, directions) =
                linear(&Extractor::from(Kpca { n_components: None, center }), &case);
            // By the other side: the n×n matrix of products.
            let x = if center { naive::center_columns(&case.x) } else { case.x.clone() };
            let (values, vectors) = naive::jacobi_eigen(&naive::matmul(&x, &naive::transpose(&x)));
            let p = case.x[0].len();
            assert_close(&found.eigenvalues, &values[..p], 1e-8, case.name);
            let all: f64 = values.iter().sum();
            let shares: Vec<f64> = values[..p].iter().map(|v| v / all).collect();
            assert_close(&found.explained, &shares, 1e-8, case.name);
            let f = naive::transpose(&features(&map, &rows(&case.x)));
            for q in 0..p {
                let column: Vec<f64> = vectors.iter().map(|row| row[q] * values[q].sqrt()).collect();
                let sign = naive::dot(&column, &f[q]).signum();
                let expected: Vec<f64> = column.iter().map(|v| v * sign).collect();
                assert_close(&f[q], &expected, 1e-7, &format!("{}, component {q}", case.name));
            }
            let own = naive::matmul(&directions, &naive::transpose(&directions));
            assert_close(&own.concat(), &naive::identity(p).concat(), 1e-9, "unit vectors");
        }
    }
}

/// Σ ω (x_i − x_j)(x_i − x_j)ᵀ by the graph's Laplacian: Xᵀ(D − W − Wᵀ)X with D the sums of rows and columns.
fn laplacian_scatter(x: &Matrix, edges: &[(usize, usize, f64)]) -> Matrix {
    let mut graph = naive::zeros(x.len(), x.len());
    for &(i, j, w) in edges {
        graph[i][i] += w;
        graph[j][j] += w;
        graph[i][j] -= w;
        graph[j][i] -= w;
    }
    naive::matmul(&naive::transpose(x), &naive::matmul(&graph, x))
}

/// Pairs of rows with their weights: misses count positive, hits negative.
fn margins(case: &Case, k: usize, mean: bool) -> Matrix {
    let distance = naive::kernel_distances("linear", 1.0, 1, 0.0, &case.x);
    let (hits, misses) = slow::hits_and_misses(&distance, &case.codes, k);
    let mut edges = Vec::new();
    for i in 0..case.x.len() {
        for (sign, others) in [(1.0, &misses[i]), (-1.0, &hits[i])] {
            let share = if mean { 1.0 / others.len() as f64 } else { 1.0 };
            edges.extend(others.iter().map(|&j| (i, j, sign * share)));
        }
    }
    laplacian_scatter(&case.x, &edges)
}

#[test]
fn klfe_with_the_linear_kernel_is_lfe() {
    for case in cases() {
        for k in [1, 3] {
            let (_, found, directions) = linear(
                &Extractor::from(Klfe { n_components: None, n_neighbors: k, ..Klfe::default() }),
                &case,
            );
            let what = format!("{}, k = {k}", case.name);
            let unit: Matrix = directions
                .iter()
                .zip(&found.eigenvalues)
                .map(|(v, value)| v.iter().map(|x| x / value.sqrt()).collect())
                .collect();
            let sum = margins(&case, k, false);
            assert_solves(&sum, &naive::identity(case.x[0].len()), &unit, &found.eigenvalues, &what);
            assert_positive_ones_are_all_there(&sum, &found.eigenvalues, &what);
        }
    }
}

#[test]
fn kanmm_with_the_linear_kernel_is_anmm() {
    for case in cases() {
        for k in [1, 4, 200] {
            let extractor = Extractor::from(Kanmm { n_components: None, n_neighbors: k });
            let (_, found, directions) = linear(&extractor, &case);
            let what = format!("{}, k = {k}", case.name);
            let sum = margins(&case, k, true);
            assert_solves(&sum, &naive::identity(case.x[0].len()), &directions, &found.eigenvalues, &what);
            assert_positive_ones_are_all_there(&sum, &found.eigenvalues, &what);
        }
    }
}

/// What is left of the matrix after the positive directions has no positive one.
fn assert_positive_ones_are_all_there(sum: &Matrix, values: &[f64], what: &str) {
    let (all, _) = naive::jacobi_eigen(sum);
    let positive: Vec<f64> = all.iter().copied().filter(|v| *v > 1e-12 * naive::max_abs(sum)).collect();
    assert_close(values, &positive, 1e-8, what);
}

#[test]
fn kmfa_with_the_linear_kernel_is_mfa() {
    for case in cases() {
        for (k_within, k_between, reg) in [(1, 5, 1e-3), (4, 20, 0.0), (4, 20, 0.2)] {
            let extractor = Extractor::from(Kmfa { n_components: None, k_within, k_between, reg });
            let (_, found, directions) = linear(&extractor, &case);
            let what = format!("{}, {k_within} within, {k_between} between, reg {reg}", case.name);
            let distance = naive::kernel_distances("linear", 1.0, 1, 0.0, &case.x);
            let (hits, _) = slow::hits_and_misses(&distance, &case.codes, k_within);
            let near: Vec<_> =
                (0..case.x.len()).flat_map(|i| hits[i].iter().map(move |&j| (i, j, 1.0))).collect();
            let mut far = Vec::new();
            for class in 0..slow::classes_of(&case.codes) {
                // Distances are all different here: those up to the k-th smallest.
                let mut of_class: Vec<(f64, usize, usize)> = Vec::new();
                for i in (0..case.x.len()).filter(|&i| case.codes[i] == class) {
                    for j in (0..case.x.len()).filter(|&j| case.codes[j] != class) {
                        of_class.push((distance[i][j], i, j));
                    }
                }
                of_class.sort_by(|a, b| a.0.total_cmp(&b.0));
                far.extend(of_class.iter().take(k_between).map(|&(_, i, j)| (i, j, 1.0)));
            }
            let t = slow::regularised(&laplacian_scatter(&case.x, &near), reg);
            let between = laplacian_scatter(&case.x, &far);
            assert_solves(&between, &t, &directions, &found.eigenvalues, &what);
            assert_eq!(found.eigenvalues.len(), case.x[0].len(), "{what}: fewer than 10 inputs");
        }
    }
}
