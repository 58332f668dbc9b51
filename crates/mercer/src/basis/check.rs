//! What a basis refuses before any work.

use super::{Basis, Method, Threshold, points};
use crate::data::labels::{Labels, target_not_finite};
use crate::data::rows::Rows;
use crate::data::weights::{Weights, refuse};
use crate::error::{Error, Result};
use crate::kernel::Shape;
use crate::real::Precision;

impl Basis {
    /// An error unless the settings are allowed and fit these rows and labels.
    pub(super) fn check(&self, rows: &Rows, labels: Option<&Labels>) -> Result<()> {
        if rows.n() == 0 || rows.p() == 0 {
            return Err(Error::data(format!(
                "the data has {} rows and {} columns; at least one of each is needed",
                rows.n(),
                rows.p()
            )));
        }
        self.check_settings(labels)?;
        if let Some(labels) = labels
            && labels.len() != rows.n()
        {
            return Err(Error::data(format!("{} rows, but {} labels", rows.n(), labels.len())));
        }
        if let Some(row) = labels.and_then(Labels::first_not_finite) {
            return Err(target_not_finite(row));
        }
        if let (Method::Csi, Some(labels)) = (self.method, labels) {
            labels.require_two("csi")?;
        }
        if let Some(landmarks) = &self.landmarks {
            self.check_landmarks(landmarks, rows)?;
        }
        rows.check_finite(None)
    }

    /// An error, naming the method, unless n rows may count differently.
    pub(crate) fn check_weights(&self, weights: &Weights, n: usize) -> Result<()> {
        weights.check(n)?;
        let instead = "use another basis, `rpcholesky` for example";
        match self.method {
            Method::Kfa if self.candidates.is_none() => {
                refuse(Some(weights), "kfa with candidates = all", "give a number of candidates")
            }
            method if method.takes_weights() => Ok(()),
            method => refuse(Some(weights), method.name(), instead),
        }
    }

    /// An error unless the settings are allowed and go together, with labels or without.
    pub(crate) fn check_settings(&self, labels: Option<&Labels>) -> Result<()> {
        self.shape.check()?;
        self.threshold.as_ref().map_or(Ok(()), Threshold::check)?;
        if self.n_components == Some(0) {
            return Err(Error::argument("n_components = 0, but at least 1 is needed"));
        }
        if self.relevant && labels.is_none() {
            return Err(Error::argument(
                "n_components = relevant looks at the labels, but none were given\n\
                 hint: give them (y), or a number of components",
            ));
        }
        if self.relevant && !self.method.is_nested() {
            return Err(Error::argument(format!(
                "n_components = relevant keeps the first components, but those of `{}` have no order\n\
                 hint: give a number, or use method = `kobl`, `kfa` or `kpca`",
                self.method.name()
            )));
        }
        if self.moves.is_some() {
            points::check_kernel(self.shape)?;
            if labels.is_none() || self.method != Method::Kmeans {
                return Err(Error::argument(format!(
                    "landmarks are moved to serve the labels in the basis `kmeans` alone, and with labels; this is `{}`",
                    self.method.name()
                )));
            }
        }
        if let Some(nu) = self.nu.filter(|nu| !(0.0..1.0).contains(nu)) {
            return Err(Error::argument(format!("nu = {nu}, but it must be at least 0 and below 1")));
        }
        if let Some(tol) = self.tol
            && !(0.0..=1.0).contains(&tol)
        {
            return Err(Error::argument(format!("tol = {tol}, but it must lie between 0 and 1")));
        }
        if self.candidates == Some(0) {
            return Err(Error::argument("candidates = 0, but at least 1 is needed"));
        }
        if self.method == Method::Kmeans && self.shape == Shape::Precomputed {
            return Err(Error::argument(
                "the basis `kmeans` averages rows, which a precomputed kernel does not have\n\
                 hint: give the rows and a kernel, or use method = `kfa`",
            ));
        }
        if self.center && self.method != Method::Kpca {
            return Err(Error::argument(format!(
                "center = true is for the basis `kpca` alone, not for `{}`\n\
                 hint: leave it out, or use method = `kpca`",
                self.method.name()
            )));
        }
        if self.precision == Some(Precision::Single) && !self.method.is_pivoted() {
            return Err(Error::argument(format!(
                "precision = `single` is for the bases `kobl`, `sparse`, `nystrom`, `rpcholesky` and `kfa`, not for `{}`\n\
                 hint: leave it out, or use method = `kobl`",
                self.method.name()
            )));
        }
        if self.method == Method::Csi && labels.is_none() {
            return Err(Error::argument(
                "the basis `csi` looks at the labels, but none were given\n\
                 hint: give them (y), or use method = `kobl`",
            ));
        }
        Ok(())
    }

    fn check_landmarks(&self, landmarks: &Rows, rows: &Rows) -> Result<()> {
        if self.shape == Shape::Precomputed {
            return Err(Error::argument("landmarks cannot be given as rows when the kernel is precomputed"));
        }
        if self.method == Method::Csi {
            return Err(Error::argument(
                "the basis `csi` chooses among the labelled rows; leave landmarks out",
            ));
        }
        if landmarks.n() == 0 || landmarks.p() != rows.p() {
            return Err(Error::data(format!(
                "landmarks are {} rows of {} columns, but at least one row of {} columns is needed",
                landmarks.n(),
                landmarks.p(),
                rows.p()
            )));
        }
        landmarks.check_finite(None)
    }
}
