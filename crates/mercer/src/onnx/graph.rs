//! A graph of ONNX operators as it grows: constants, nodes, and at the end the bytes of a model.
//!
//! differs values have the name of their operator and a number, which is all that a reader of the graph needs; constants are
//!         stored as raw little-endian bytes

use super::proto::Message;
use crate::error::{Error, Result};
use crate::real::Precision;

/// The name of a value: the output of a node, a constant or an input.
pub(super) type Value = String;

/// What a tensor holds, by ONNX's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Float = 1,
    Int64 = 7,
    Text = 8,
    Bool = 9,
    Double = 11,
}

impl From<Precision> for Element {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::Double => Self::Double,
            Precision::Single => Self::Float,
        }
    }
}

/// One dimension of a tensor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dim {
    /// The number of rows, which every call may choose.
    Rows,
    Fixed(usize),
}

/// An attribute of a node.
pub(super) enum Attribute {
    Int(&'static str, i64),
    Float(&'static str, f32),
    Ints(&'static str, Vec<i64>),
    Graph(&'static str, Message),
}

impl Attribute {
    fn message(&self) -> Message {
        // AttributeProto: name 1, f 2, i 3, g 6, ints 8, type 20.
        let named = |name: &str| Message::default().text(1, name);
        match self {
            Self::Int(name, value) => named(name).int(3, *value).int(20, 2),
            Self::Float(name, value) => named(name).float(2, *value).int(20, 1),
            Self::Ints(name, values) => named(name).ints(8, values).int(20, 7),
            Self::Graph(name, graph) => named(name).message(6, graph).int(20, 5),
        }
    }
}

struct Node {
    op: &'static str,
    inputs: Vec<Value>,
    output: Value,
    /// Attributes, encoded.
    attributes: Vec<Message>,
}

impl Node {
    fn message(&self) -> Message {
        // NodeProto: input 1, output 2, name 3, op_type 4, attribute 5.
        Message::default()
            .texts(1, self.inputs.iter().map(String::as_str))
            .text(2, &self.output)
            .text(3, &format!("{}_node", self.output))
            .text(4, self.op)
            .messages(5, &self.attributes)
    }
}

/// A graph that grows.
pub(super) struct Graph {
    /// The version of the operators.
    pub(super) opset: u32,
    /// What numbers are computed in from here on.
    pub(super) precision: Precision,
    nodes: Vec<Node>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    /// Names given so far.
    names: usize,
}

/// The most bytes of a message.
const MOST_BYTES: usize = i32::MAX as usize;

impl Graph {
    pub(super) fn new(opset: u32, precision: Precision) -> Self {
        let (nodes, constants, inputs, outputs) = Default::default();
        Self { opset, precision, nodes, constants, inputs, outputs, names: 0 }
    }

    fn name(&mut self, what: &str) -> Value {
        self.names += 1;
        format!("{}_{}", what.to_lowercase(), self.names)
    }

    /// An input of the graph.
    pub(super) fn input(&mut self, name: &str, element: Element, dims: &[Dim]) -> Value {
        self.inputs.push(value_info(name, element, dims));
        name.into()
    }

    /// Makes a value an output of the graph and gives it this name. No node inside another may use it.
    pub(super) fn output(&mut self, value: &str, name: &str, element: Element, dims: &[Dim]) {
        self.outputs.push(value_info(name, element, dims));
        if !self.nodes.iter().any(|node| node.output == value) {
            let (inputs, attributes) = (vec![value.to_string()], Vec::new());
            self.nodes.push(Node { op: "Identity", inputs, output: name.into(), attributes });
            return;
        }
        for node in &mut self.nodes {
            let names = node.inputs.iter_mut().chain([&mut node.output]);
            names.filter(|used| *used == value).for_each(|used| *used = name.into());
        }
    }

    /// The value of an operator without attributes.
    pub(super) fn node(&mut self, op: &'static str, inputs: &[&str]) -> Value {
        self.node_with(op, inputs, &[])
    }

    /// The value of an operator.
    pub(super) fn node_with(&mut self, op: &'static str, inputs: &[&str], attributes: &[Attribute]) -> Value {
        let output = self.name(op);
        let inputs = inputs.iter().map(ToString::to_string).collect();
        let attributes = attributes.iter().map(Attribute::message).collect();
        self.nodes.push(Node { op, inputs, output: output.clone(), attributes });
        output
    }

    /// Numbers in the precision that is computed in.
    pub(super) fn numbers(&mut self, what: &str, dims: &[usize], values: &[f64]) -> Value {
        let raw: Vec<u8> = match self.precision {
            Precision::Double => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
            Precision::Single => values.iter().flat_map(|v| (*v as f32).to_le_bytes()).collect(),
        };
        self.raw(what, self.precision.into(), dims, &raw)
    }

    /// One number.
    pub(super) fn number(&mut self, value: f64) -> Value {
        self.numbers("number", &[], &[value])
    }

    /// Whole numbers; those without dimensions are one number.
    pub(super) fn integers(&mut self, what: &str, dims: &[usize], values: &[i64]) -> Value {
        let raw: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.raw(what, Element::Int64, dims, &raw)
    }

    /// A list of places, counted from 0.
    pub(super) fn places(&mut self, what: &str, places: &[usize]) -> Value {
        let places: Vec<i64> = places.iter().map(|&place| whole(place)).collect();
        self.integers(what, &[places.len()], &places)
    }

    /// Flags.
    pub(super) fn flags(&mut self, what: &str, dims: &[usize], values: &[bool]) -> Value {
        let raw: Vec<u8> = values.iter().map(|v| u8::from(*v)).collect();
        self.raw(what, Element::Bool, dims, &raw)
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, what: &str, values: &[String]) -> Value {
        let name = self.name(what);
        // TensorProto: dims 1, data_type 2, string_data 6, name 8, raw_data 9.
        let tensor = Message::default().int(1, whole(values.len())).int(2, Element::Text as i64);
        self.constants.push(tensor.texts(6, values.iter().map(String::as_str)).text(8, &name));
        name
    }

    fn raw(&mut self, what: &str, element: Element, dims: &[usize], raw: &[u8]) -> Value {
        let name = self.name(what);
        let dims: Vec<i64> = dims.iter().map(|&d| whole(d)).collect();
        let tensor = Message::default().ints(1, &dims).int(2, element as i64).text(8, &name).bytes(9, raw);
        self.constants.push(tensor);
        name
    }

    /// A value in another precision.
    pub(super) fn cast(&mut self, value: &str, to: Element) -> Value {
        self.node_with("Cast", &[value], &[Attribute::Int("to", to as i64)])
    }

    /// The entries of a value at places along an axis.
    pub(super) fn gather(&mut self, value: &str, places: &str, axis: i64) -> Value {
        self.node_with("Gather", &[value, places], &[Attribute::Int("axis", axis)])
    }

    /// factor·x·Aᵀ, plus a row if there is one. It is `Gemm`, because ONNX Runtime fuses a `MatMul` with a number that is
    /// multiplied before or after it, and keeps that number in float32.
    pub(super) fn product(&mut self, x: &str, transposed: &str, plus: Option<&str>, factor: f32) -> Value {
        let inputs: Vec<&str> = [x, transposed].into_iter().chain(plus).collect();
        let attributes = [Attribute::Int("transB", 1), Attribute::Float("alpha", factor)];
        self.node_with("Gemm", &inputs, &attributes)
    }

    /// Σ over the last of two axes; `keep`: as a column.
    pub(super) fn row_sums(&mut self, value: &str, keep: bool) -> Value {
        let axes = self.integers("axes", &[1], &[1]);
        self.node_with("ReduceSum", &[value, &axes], &[Attribute::Int("keepdims", i64::from(keep))])
    }

    /// The largest number of every row, as a column. The axes became an input with version 18.
    pub(super) fn row_maxima(&mut self, value: &str) -> Value {
        if self.opset < 18 {
            return self.node_with("ReduceMax", &[value], &[Attribute::Ints("axes", vec![1])]);
        }
        let axes = self.integers("axes", &[1], &[1]);
        self.node("ReduceMax", &[value, &axes])
    }

    /// What `each` makes of the numbers 0, …, count − 1, one below the other: count×width. Inside it sees all values outside.
    pub(super) fn each(
        &mut self,
        count: &str,
        width: usize,
        each: impl FnOnce(&mut Self, &str) -> Value,
    ) -> Value {
        let (at, go_on) = (self.name("at"), self.name("go_on"));
        let outside = std::mem::take(&mut self.nodes);
        let made = each(self, &at);
        let kept = self.node("Identity", &[&go_on]);
        let inside = std::mem::replace(&mut self.nodes, outside);
        let body = Message::default()
            .messages(1, &inside.iter().map(Node::message).collect::<Vec<_>>())
            .text(2, &self.name("body"))
            .message(11, &value_info(&at, Element::Int64, &[]))
            .message(11, &value_info(&go_on, Element::Bool, &[]))
            .message(12, &value_info(&kept, Element::Bool, &[]))
            .message(12, &value_info(&made, self.precision.into(), &[Dim::Fixed(width)]));
        let always = self.flags("always", &[], &[true]);
        self.node_with("Loop", &[count, &always], &[Attribute::Graph("body", body)])
    }

    /// The bytes of a model; `facts` are what its metadata tell.
    pub(super) fn finish(self, doc: &str, facts: &[(&str, String)]) -> Result<Vec<u8>> {
        // GraphProto: node 1, name 2, initializer 5, input 11, output 12.
        let graph = Message::default()
            .messages(1, &self.nodes.iter().map(Node::message).collect::<Vec<_>>())
            .text(2, "mercer")
            .messages(5, &self.constants)
            .messages(11, &self.inputs)
            .messages(12, &self.outputs);
        if graph.len() >= MOST_BYTES {
            return Err(Error::data(format!(
                "the graph has {} bytes, but an ONNX file has at most 2 GiB\n\
                 hint: use float32, or fit with fewer landmarks",
                graph.len()
            )));
        }
        // OperatorSetIdProto: domain 1, version 2. StringStringEntryProto: key 1, value 2.
        let opset = Message::default().text(1, "").int(2, i64::from(self.opset));
        let facts: Vec<Message> =
            facts.iter().map(|(name, value)| Message::default().text(1, name).text(2, value)).collect();
        // ModelProto: ir_version 1, producer_name 2, producer_version 3, doc_string 6, graph 7, opset_import 8,
        // metadata_props 14.
        Ok(Message::default()
            .int(1, file_version(self.opset))
            .text(2, "mercer")
            .text(3, env!("CARGO_PKG_VERSION"))
            .text(6, doc)
            .message(7, &graph)
            .message(8, &opset)
            .messages(14, &facts)
            .into_bytes())
    }
}

/// A size as ONNX has it.
fn whole(size: usize) -> i64 {
    size.cast_signed() as i64
}

/// The version of the file format that came with a version of the operators.
fn file_version(opset: u32) -> i64 {
    match opset {
        ..=14 => 7,
        15..=18 => 8,
        19..=20 => 9,
        _ => 10,
    }
}

/// Name, type and shape of a tensor.
fn value_info(name: &str, element: Element, dims: &[Dim]) -> Message {
    // TensorShapeProto.Dimension: dim_value 1, dim_param 2.
    let dims: Vec<Message> = dims
        .iter()
        .map(|dim| match dim {
            Dim::Rows => Message::default().text(2, "n"),
            Dim::Fixed(size) => Message::default().int(1, whole(*size)),
        })
        .collect();
    // ValueInfoProto: name 1, type 2. TypeProto: tensor_type 1. Its elem_type 1, shape 2.
    let shape = Message::default().messages(1, &dims);
    let tensor = Message::default().int(1, element as i64).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}
