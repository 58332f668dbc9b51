use mercer::data::{Labels, Scale, Scaling, Task, read};
use mercer::evaluate::{Adviser, Judge, Measure, folds};
use mercer::{Monitor, Rows};
use std::time::Instant;
fn main() {
    let sets: Vec<String> = std::env::args().skip(1).collect();
    let max: usize = std::env::var("MAX").ok().and_then(|v| v.parse().ok()).unwrap_or(2500);
    for set in sets {
        let base = format!("/work/shared/data/{set}.csv");
        let path = if std::path::Path::new(&base).exists() { base } else { format!("{base}.gz") };
        let options = read::ReadOptions { target: Some("target".into()), ..Default::default() };
        let mut table = read::read(&path, &options).unwrap();
        let labels = Labels::decide(table.target.take().unwrap(), Task::Auto).unwrap();
        let (splits, _) = if labels.len() > 5000 {
            folds::splits(&labels, 0.25, 1, 0).unwrap()
        } else {
            folds::folds(&labels, 5, 1, 0).unwrap()
        };
        let (mut acc, mut near, mut secs, mut about) = (vec![], vec![], 0.0, vec![]);
        let k = splits.len() as f64;
        for s in splits {
            let (tr, te) = (table.rows.select(&s.train), table.rows.select(&s.test));
            let (ltr, lte) = (labels.select(&s.train), labels.select(&s.test));
            let sc = Scaling::fit(Scale::Standard, &tr).0.unwrap();
            let (tr, te) = (sc.apply(&tr).unwrap(), sc.apply(&te).unwrap());
            let t = Instant::now();
            let adviser =
                Adviser { scale: Scale::None, rows: 20_000, max_components: max, ..Default::default() };
            let auto = adviser.fit(&tr, &ltr).unwrap();
            let f = Rows::from_mat(auto.made.map.transform(&tr).unwrap().as_ref());
            let g = Rows::from_mat(auto.made.map.transform(&te).unwrap().as_ref());
            let p = Judge::Ridge.predict(&f, &ltr, &g, 0, &Monitor::default()).unwrap();
            secs += t.elapsed().as_secs_f64();
            acc.push(Measure::Accuracy.of(&lte, &p.predictions).unwrap());
            let p = Judge::Knn { n_neighbors: 1 }.predict(&f, &ltr, &g, 0, &Monitor::default()).unwrap();
            near.push(Measure::Accuracy.of(&lte, &p.predictions).unwrap());
            about.push(format!(
                "{} {} {:?}",
                auto.advice.verdict.name(),
                auto.advice.arguments(),
                auto.advice.inner.iter().map(|i| format!("{} {:.3}", i.0, i.1)).collect::<Vec<_>>()
            ));
        }
        println!(
            "{set} ridge {:.4} knn {:.4} {:.1}s | {}",
            acc.iter().sum::<f64>() / k,
            near.iter().sum::<f64>() / k,
            secs,
            about[0]
        );
    }
}
