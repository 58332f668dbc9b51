//! The model file: a [`FeatureMap`] as safetensors, and back, doubting every part of it.
//!
//! Tensors `matrix` (q×l), `offset` (q), the landmarks (`landmarks` l×p, or the CSR parts `landmarks.indptr`, `.indices`,
//! `.values`, or `landmarks.columns` of a precomputed kernel) and, where there are, `scaling.center`, `scaling.factor`,
//! `origin`, `scores`, `pivots`, `pivot_norms`, `eigenvalues`; and a JSON header under `mercer` in the metadata with
//! everything else. A predictor's maps are there under `predictor.0.`, `predictor.1.`, …, with headers of their own in the
//! header, and so is an encoder of the columns. There is no code in it.
//!
//! Selected columns have the header's `kind` `columns`, and tensors `columns`, `scores`, `ranking` and, where there are,
//! `weights`, `pvalues`, `stability`. Programs that know maps alone refuse such a file by its format.

use std::collections::HashMap;

use faer::MatRef;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde_json::{Value, json};

use super::{
    COLUMNS_FORMAT_VERSION, Facts, FeatureMap, Model, Predictor, SelectedColumns, UNIT_FORMAT_VERSION,
};
use crate::basis::{Expansion, Landmarks};
use crate::data::encode::Encoder;
use crate::data::rows::{MOST_SPARSE_COLUMNS, Rows};
use crate::data::scale::Scaling;
use crate::kernel::{Kernel, Shape};

impl FeatureMap {
    pub(super) fn to_bytes(&self) -> std::result::Result<Vec<u8>, SafeTensorError> {
        let mut parts = Vec::new();
        self.add_tensors("", &mut parts);
        for (at, member) in self.predictor.iter().flat_map(|predictor| &predictor.members).enumerate() {
            member.add_tensors(&member_prefix(at), &mut parts);
        }
        let mut views = Vec::with_capacity(parts.len());
        for (name, dtype, shape, bytes) in &parts {
            views.push((name.as_str(), TensorView::new(*dtype, shape.clone(), bytes)?));
        }
        let mut header = self.header();
        if let Some(Predictor { members, classes, sharpness }) = &self.predictor {
            let members: Vec<Value> = members.iter().map(Self::header).collect();
            header["predictor"] = json!({ "classes": classes, "sharpness": sharpness, "members": members });
        }
        if let Some(encoder) = &self.encoder {
            header["encoder"] = encoder.to_value();
        }
        let metadata = HashMap::from([("mercer".to_string(), header.to_string())]);
        serialize(views, Some(metadata))
    }

    /// Adds the tensors of this map, each name with a prefix.
    fn add_tensors(&self, prefix: &str, parts: &mut Vec<Tensor>) {
        let Expansion { landmarks, matrix, offset, origin, .. } = &self.expansion;
        let mut floats: Vec<(&str, Vec<usize>, Vec<f64>)> = Vec::new();
        let mut whole: Vec<(&str, Vec<u64>)> = Vec::new();
        let matrix_values =
            (0..matrix.nrows()).flat_map(|i| matrix.row(i).iter().copied().collect::<Vec<_>>());
        floats.push(("matrix", vec![matrix.nrows(), matrix.ncols()], matrix_values.collect()));
        let lists = [
            ("offset", offset),
            ("scores", &self.scores),
            ("pivot_norms", &self.pivot_norms),
            ("eigenvalues", &self.eigenvalues),
        ];
        floats.extend(lists.into_iter().map(|(name, v)| (name, vec![v.len()], v.clone())));
        if let Some(origin) = origin {
            floats.push(("origin", vec![origin.len()], origin.clone()));
        }
        if let Some(scaling) = &self.scaling {
            floats.push(("scaling.center", vec![scaling.center.len()], scaling.center.clone()));
            floats.push(("scaling.factor", vec![scaling.factor.len()], scaling.factor.clone()));
        }
        match landmarks {
            Landmarks::Rows(rows @ (Rows::Dense(_) | Rows::DenseF32(_))) => {
                floats.push(("landmarks", vec![rows.n(), rows.p()], rows.to_dense()));
            }
            Landmarks::Rows(rows @ Rows::Sparse(csr)) => {
                let (mut indptr, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
                for i in 0..rows.n() {
                    let (columns, row) = csr.row(i);
                    indices.extend(columns.iter().map(|&j| u64::from(j)));
                    values.extend_from_slice(row);
                    indptr.push(indices.len() as u64);
                }
                whole.push(("landmarks.indptr", indptr));
                whole.push(("landmarks.indices", indices));
                floats.push(("landmarks.values", vec![values.len()], values));
            }
            Landmarks::Columns { indices, .. } => {
                whole.push(("landmarks.columns", indices.iter().map(|&i| i as u64).collect()));
            }
        }
        whole.push(("pivots", self.pivots.iter().map(|&i| i as u64).collect()));

        let bytes = |v: &[f64]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        parts.extend(
            floats
                .into_iter()
                .map(|(name, shape, v)| (format!("{prefix}{name}"), Dtype::F64, shape, bytes(&v))),
        );
        parts.extend(whole.into_iter().map(|(name, v)| {
            let bytes = v.iter().flat_map(|x| x.to_le_bytes()).collect();
            (format!("{prefix}{name}"), Dtype::U64, vec![v.len()], bytes)
        }));
    }

    fn header(&self) -> Value {
        let kernel = self.expansion.kernel;
        let (degree, coef0, alpha) = match kernel.shape {
            Shape::Poly { degree, coef0 } => (degree, coef0, 1.0),
            Shape::Sigmoid { coef0 } => (3, coef0, 1.0),
            Shape::Rq { alpha } => (3, 1.0, alpha),
            _ => (3, 1.0, 1.0),
        };
        let mut header = json!({
            "format": self.format_version(),
            "written_by": WRITTEN_BY,
            "method": self.method,
            "kernel": { "name": kernel.shape.name(), "gamma": kernel.gamma, "degree": degree, "coef0": coef0, "alpha": alpha },
            "n_inputs": self.expansion.landmarks.p(),
            "input_names": self.input_names,
            "feature_names": self.feature_names,
            "facts": self.facts.to_map(),
        });
        if self.scaling.as_ref().is_some_and(|scaling| scaling.unit) {
            header["unit_length"] = true.into();
        }
        header
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, String> {
        match Model::from_bytes(bytes)? {
            Model::Features(map) => Ok(map),
            Model::Columns(selected) => Err(format!(
                "the model keeps columns by `{}`; it is no map to features in kernel space\n\
                 hint: `mercer transform`, `mercer.load` and, in Rust, `Model::load` read it",
                selected.method
            )),
        }
    }

    fn from_section(file: &Section) -> Doubt<Self> {
        let kernel = file.kernel()?;
        let p = file.n_inputs()?;
        let landmarks = file.landmarks(kernel, p)?;
        let (shape, matrix) = file.floats("matrix")?;
        let [q, l] = shape[..] else { return Err(format!("`matrix` has {} dimensions, not 2", shape.len())) };
        if l == 0 || p == 0 {
            return Err("it has no landmarks or no inputs".into());
        }
        if l != landmarks.len() {
            return Err(format!("`matrix` has {l} columns for {} landmarks", landmarks.len()));
        }
        let scaling = match (file.list("scaling.center", Some(p))?, file.list("scaling.factor", Some(p))?) {
            (Some(center), Some(factor)) => Some(Scaling { unit: file.flag("unit_length"), center, factor }),
            (None, None) => None,
            _ => return Err("only one half of the scaling is there".into()),
        };
        let list = |name: &str| file.list(name, None).map(Option::unwrap_or_default);
        let scores = list("scores")?;
        if !scores.is_empty() && scores.len() != q {
            return Err(format!("{} scores for {q} features", scores.len()));
        }
        Ok(Self {
            method: file.text("method")?,
            encoder: None,
            scaling,
            expansion: Expansion {
                kernel,
                landmarks,
                matrix: MatRef::from_row_major_slice(&matrix, q, l).to_owned(),
                offset: file.list("offset", Some(q))?.ok_or("`offset` is missing")?,
                origin: file.list("origin", Some(l))?,
            },
            input_names: file.names("input_names", p)?,
            feature_names: file.names("feature_names", q)?.ok_or("the header has no `feature_names`")?,
            scores,
            pivots: file.whole("pivots")?.unwrap_or_default(),
            pivot_norms: list("pivot_norms")?,
            eigenvalues: list("eigenvalues")?,
            facts: file.facts(),
            predictor: None,
            warnings: Vec::new(),
        })
    }
}

impl Model {
    pub(super) fn from_bytes(bytes: &[u8]) -> Doubt<Self> {
        let file = ModelFile::open(bytes)?;
        let section = Section { tensors: &file.tensors, header: &file.header, prefix: String::new() };
        match file.header.get("kind").and_then(Value::as_str) {
            Some(COLUMNS) => SelectedColumns::from_section(&section).map(Self::Columns),
            None => {
                let mut map = FeatureMap::from_section(&section)?;
                map.predictor = file.predictor(&map)?;
                map.encoder = file.encoder(&map)?;
                Ok(Self::Features(map))
            }
            Some(other) => Err(format!("it is a model of the kind `{other}`, which is not known")),
        }
    }
}

/// The kind of a file of selected columns.
const COLUMNS: &str = "columns";

impl SelectedColumns {
    pub(super) fn to_bytes(&self) -> std::result::Result<Vec<u8>, SafeTensorError> {
        let whole =
            |values: &[usize]| values.iter().flat_map(|v| (*v as u64).to_le_bytes()).collect::<Vec<u8>>();
        let floats = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let mut parts = vec![
            ("columns", Dtype::U64, self.columns.len(), whole(&self.columns)),
            ("ranking", Dtype::U64, self.ranking.len(), whole(&self.ranking)),
            ("scores", Dtype::F64, self.scores.len(), floats(&self.scores)),
        ];
        let lists = [("weights", &self.weights), ("pvalues", &self.pvalues), ("stability", &self.stability)];
        for (name, values) in lists {
            parts.extend(values.as_ref().map(|values| (name, Dtype::F64, values.len(), floats(values))));
        }
        let mut views = Vec::with_capacity(parts.len());
        for (name, dtype, length, bytes) in &parts {
            views.push((*name, TensorView::new(*dtype, vec![*length], bytes)?));
        }
        let header = json!({
            "format": COLUMNS_FORMAT_VERSION,
            "written_by": WRITTEN_BY,
            "kind": COLUMNS,
            "method": self.method,
            "n_inputs": self.n_inputs,
            "input_names": self.input_names,
            "facts": self.facts.to_map(),
        });
        serialize(views, Some(HashMap::from([("mercer".to_string(), header.to_string())])))
    }

    fn from_section(file: &Section) -> Doubt<Self> {
        let p = file.n_inputs()?;
        let selected = Self {
            method: file.text("method")?,
            n_inputs: p,
            input_names: file.names("input_names", p)?,
            columns: file.whole("columns")?.ok_or("`columns` is missing")?,
            weights: file.list("weights", None)?,
            scores: file.list("scores", Some(p))?.ok_or("`scores` is missing")?,
            ranking: file.whole("ranking")?.ok_or("`ranking` is missing")?,
            pvalues: file.list("pvalues", Some(p))?,
            stability: file.list("stability", Some(p))?,
            facts: file.facts(),
        };
        selected.check_itself().map(|()| selected).map_err(|why| format!("the file is damaged: {why}"))
    }
}

/// A model file that has been opened and is being doubted.
struct ModelFile<'a> {
    tensors: SafeTensors<'a>,
    header: Value,
}

/// The part of a file that is one map.
struct Section<'f, 'a> {
    tensors: &'f SafeTensors<'a>,
    header: &'f Value,
    /// What the names of its tensors start with.
    prefix: String,
}

/// The program that writes files.
const WRITTEN_BY: &str = concat!("mercer ", env!("CARGO_PKG_VERSION"));

/// Name, type, shape and bytes.
type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// The most maps that a predictor has.
const MOST_MEMBERS: usize = 16;

/// What the names of a predictor's tensors start with.
fn member_prefix(at: usize) -> String {
    format!("predictor.{at}.")
}

type Doubt<T> = std::result::Result<T, String>;

impl<'a> ModelFile<'a> {
    fn open(bytes: &'a [u8]) -> Doubt<Self> {
        let foreign = |what: &str| {
            format!(
                "not a mercer model: {what}\nhint: models are written by `mercer fit -o`, `mercer select -m` and `mercer.save`"
            )
        };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| {
            // The first eight bytes say how long the header is, which starts with a brace.
            let promised = bytes.first_chunk::<8>().map(|b| u64::from_le_bytes(*b));
            match (promised, e) {
                (None, _) => "the file is truncated or empty".to_string(),
                (Some(length), _)
                    if bytes.get(8) == Some(&b'{') && length.saturating_add(8) > bytes.len() as u64 =>
                {
                    "the file is truncated: it ends inside its header".to_string()
                }
                (_, SafeTensorError::MetadataIncompleteBuffer) => {
                    "the file is truncated or damaged: its tensors do not match its length".to_string()
                }
                _ => foreign("it does not start like one"),
            }
        })?;
        let header = metadata
            .metadata()
            .as_ref()
            .and_then(|m| m.get("mercer"))
            .ok_or_else(|| foreign("it is a safetensors file without mercer's header"))?;
        let header: Value =
            serde_json::from_str(header).map_err(|e| format!("the header is damaged: {e}"))?;
        let version =
            header.get("format").and_then(Value::as_u64).ok_or("the header has no format version")?;
        if version > UNIT_FORMAT_VERSION {
            return Err(format!(
                "the file has format {version}, newer than this program's {UNIT_FORMAT_VERSION}\nhint: update mercer"
            ));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| format!("the file is damaged: {e}"))?;
        Ok(Self { tensors, header })
    }

    /// The encoder, if there is one, for a map of the columns that it makes.
    fn encoder(&self, map: &FeatureMap) -> Doubt<Option<Encoder>> {
        let Some(value) = self.header.get("encoder").filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let encoder = Encoder::from_value(value)?;
        let (made, needed) = (encoder.names().len(), map.expansion.landmarks.p());
        if made != needed {
            return Err(format!("its encoder makes {made} columns, but the model has {needed} inputs"));
        }
        Ok(Some(encoder))
    }

    /// The predictor, if there is one, for a map with as many inputs.
    fn predictor(&self, map: &FeatureMap) -> Doubt<Option<Predictor>> {
        let Some(header) = self.header.get("predictor").filter(|header| !header.is_null()) else {
            return Ok(None);
        };
        let members =
            header.get("members").and_then(Value::as_array).ok_or("the predictor has no members")?;
        if members.is_empty() || members.len() > MOST_MEMBERS {
            return Err(format!("the predictor has {} members, not 1 to {MOST_MEMBERS}", members.len()));
        }
        let classes: Option<Vec<String>> = match header.get("classes") {
            None | Some(Value::Null) => None,
            Some(Value::Array(names)) => {
                let names: Option<Vec<String>> = names.iter().map(|v| v.as_str().map(String::from)).collect();
                Some(names.filter(|names| names.len() > 1).ok_or("`classes` of the predictor are no names")?)
            }
            Some(_) => return Err("`classes` of the predictor is not a list of names".into()),
        };
        let sharpness = header.get("sharpness").and_then(Value::as_f64).filter(|v| v.is_finite() && *v > 0.0);
        let read = |(at, header)| -> Doubt<FeatureMap> {
            let section = Section { tensors: &self.tensors, header, prefix: member_prefix(at) };
            let member = FeatureMap::from_section(&section)?;
            // Without classes there is one number for each of several targets.
            let outputs = classes.as_ref().map_or(member.n_features().max(1), Vec::len);
            if member.n_features() != outputs || member.expansion.landmarks.p() != map.expansion.landmarks.p()
            {
                return Err(format!("member {at} of the predictor does not fit the model"));
            }
            Ok(member)
        };
        let members = members.iter().enumerate().map(read).collect::<Doubt<Vec<_>>>()?;
        if members.windows(2).any(|pair| pair[0].n_features() != pair[1].n_features()) {
            return Err("members of the predictor have different numbers of outputs".into());
        }
        let sharpness = sharpness.ok_or("`sharpness` of the predictor is not a number above 0")?;
        Ok(Some(Predictor { members, classes, sharpness }))
    }
}

impl<'a> Section<'_, 'a> {
    /// How the model was made.
    fn facts(&self) -> Facts {
        self.header.get("facts").and_then(Value::as_object).map(Facts::from_map).unwrap_or_default()
    }

    fn kernel(&self) -> Doubt<Kernel> {
        let kernel = self.header.get("kernel").ok_or("the header has no kernel")?;
        let number = |key: &str| {
            kernel.get(key).and_then(Value::as_f64).ok_or_else(|| format!("the kernel has no number `{key}`"))
        };
        let name = kernel.get("name").and_then(Value::as_str).ok_or("the kernel has no name")?;
        let shape = Shape::named(name, number("degree")? as u32, number("coef0")?, number("alpha")?)
            .map_err(|e| e.to_string())?;
        let kernel = Kernel { shape, gamma: number("gamma")? };
        kernel.check().map_err(|e| e.to_string())?;
        Ok(kernel)
    }

    fn landmarks(&self, kernel: Kernel, p: usize) -> Doubt<Landmarks> {
        if kernel.shape == Shape::Precomputed {
            let indices = self.whole("landmarks.columns")?.ok_or("`landmarks.columns` is missing")?;
            return match indices.iter().find(|&&i| i >= p) {
                Some(i) => Err(format!("`landmarks.columns` holds {i}, but there are {p} columns")),
                None => Ok(Landmarks::Columns { indices, n: p }),
            };
        }
        let sparse = self.whole("landmarks.indptr")?.zip(self.whole("landmarks.indices")?);
        let rows = if let Some((indptr, indices)) = sparse {
            let values = self.list("landmarks.values", None)?.ok_or("`landmarks.values` is missing")?;
            let indices: Option<Vec<u32>> = indices.into_iter().map(|i| u32::try_from(i).ok()).collect();
            let indices = indices.ok_or("`landmarks.indices` holds a number that is too large")?;
            if indptr.is_empty() {
                return Err("`landmarks.indptr` is empty".into());
            }
            Rows::sparse(indptr, indices, values, p)
        } else {
            let (shape, values) = self.floats("landmarks")?;
            let [l, columns] = shape[..] else {
                return Err(format!("`landmarks` has {} dimensions, not 2", shape.len()));
            };
            if columns != p {
                return Err(format!("`landmarks` has {columns} columns, but the header says {p}"));
            }
            Rows::dense(values, l, p)
        };
        let rows = rows.map_err(|e| format!("the landmarks are damaged: {e}"))?;
        kernel.check_for(&rows).map_err(|e| e.to_string())?;
        Ok(Landmarks::Rows(rows))
    }

    fn raw(&self, name: &str, dtype: Dtype) -> Doubt<Option<TensorView<'a>>> {
        match self.tensors.tensor(&format!("{}{name}", self.prefix)) {
            Err(_) => Ok(None),
            Ok(view) if view.dtype() == dtype => Ok(Some(view)),
            Ok(view) => Err(format!("`{name}` has type {:?}, not {dtype:?}", view.dtype())),
        }
    }

    fn floats(&self, name: &str) -> Doubt<(Vec<usize>, Vec<f64>)> {
        let view = self.raw(name, Dtype::F64)?.ok_or_else(|| format!("`{name}` is missing"))?;
        let values: Vec<f64> = eights(view.data()).map(f64::from_le_bytes).collect();
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            return Err(format!("`{name}` holds {} at position {at}: the file is damaged", values[at]));
        }
        Ok((view.shape().to_vec(), values))
    }

    fn list(&self, name: &str, length: Option<usize>) -> Doubt<Option<Vec<f64>>> {
        if self.raw(name, Dtype::F64)?.is_none() {
            return Ok(None);
        }
        let (shape, values) = self.floats(name)?;
        match length {
            _ if shape.len() != 1 => Err(format!("`{name}` has {} dimensions, not 1", shape.len())),
            Some(length) if length != values.len() => {
                Err(format!("`{name}` has {} numbers, but {length} are needed", values.len()))
            }
            _ => Ok(Some(values)),
        }
    }

    fn whole(&self, name: &str) -> Doubt<Option<Vec<usize>>> {
        let view = self.raw(name, Dtype::U64)?;
        let numbers = |view: TensorView| {
            eights(view.data())
                .map(|b| {
                    usize::try_from(u64::from_le_bytes(b))
                        .map_err(|_| format!("`{name}` holds a number that is too large"))
                })
                .collect::<Doubt<Vec<usize>>>()
        };
        view.map(numbers).transpose()
    }

    fn number(&self, key: &str) -> Doubt<u64> {
        self.header
            .get(key)
            .and_then(Value::as_u64)
            .ok_or_else(|| format!("the header has no number `{key}`"))
    }

    /// The number of input columns, of which rows cannot have more than sparse ones have.
    fn n_inputs(&self) -> Doubt<usize> {
        let p = self.number("n_inputs")?;
        match usize::try_from(p) {
            Ok(inputs) if p <= MOST_SPARSE_COLUMNS => Ok(inputs),
            _ => Err(format!(
                "the header says that rows have {p} columns, but at most {MOST_SPARSE_COLUMNS} are possible: the file is damaged"
            )),
        }
    }

    fn text(&self, key: &str) -> Doubt<String> {
        let text = self.header.get(key).and_then(Value::as_str).map(String::from);
        text.ok_or_else(|| format!("the header has no text `{key}`"))
    }

    /// Whether a flag is there and set.
    fn flag(&self, key: &str) -> bool {
        self.header.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    fn names(&self, key: &str, length: usize) -> Doubt<Option<Vec<String>>> {
        let names: Option<Vec<String>> = match self.header.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(names)) => names.iter().map(|v| v.as_str().map(String::from)).collect(),
            Some(_) => None,
        };
        match names {
            None => Err(format!("`{key}` in the header is not a list of names")),
            Some(names) if names.len() == length => Ok(Some(names)),
            Some(names) => Err(format!("`{key}` has {} names, but {length} are needed", names.len())),
        }
    }
}

fn eights(bytes: &[u8]) -> impl Iterator<Item = [u8; 8]> {
    bytes.chunks_exact(8).filter_map(|b| b.try_into().ok())
}
