//! Protocol buffers, as much of them as ONNX needs: varints, length-delimited fields and four-byte floats.
//!
//!   field   (number << 3 | wire type), then a varint, or a length and so many bytes, or four bytes
//!
//! source  protobuf.dev/programming-guides/encoding; field numbers from onnx.proto3, which never change
//! differs fields are written in the order of the calls; nothing is read

/// An encoded message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Message(Vec<u8>);

/// How the value of a field is written.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Length = 2,
    Four = 5,
}

impl Message {
    /// A number, negative ones in ten bytes.
    pub(super) fn int(mut self, field: u32, value: i64) -> Self {
        self.key(field, Wire::Varint);
        self.varint(value.cast_unsigned());
        self
    }

    /// Numbers, each a field of its own, which every reader takes.
    pub(super) fn ints(self, field: u32, values: &[i64]) -> Self {
        values.iter().fold(self, |message, value| message.int(field, *value))
    }

    /// Bytes.
    pub(super) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.key(field, Wire::Length);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    /// Text.
    pub(super) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    /// Texts, in the order given.
    pub(super) fn texts<'t>(self, field: u32, values: impl IntoIterator<Item = &'t str>) -> Self {
        values.into_iter().fold(self, |message, value| message.text(field, value))
    }

    /// A float32 number.
    pub(super) fn float(mut self, field: u32, value: f32) -> Self {
        self.key(field, Wire::Four);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A message.
    pub(super) fn message(self, field: u32, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }

    /// Messages, in the order given.
    pub(super) fn messages<'m>(self, field: u32, values: impl IntoIterator<Item = &'m Self>) -> Self {
        values.into_iter().fold(self, |message, value| message.message(field, value))
    }

    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn key(&mut self, field: u32, wire: Wire) {
        self.varint(u64::from(field) << 3 | wire as u64);
    }

    /// Seven bits a byte, the lowest first; the highest bit of a byte tells whether more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field as a reader sees it.
    #[derive(Debug, PartialEq)]
    enum Field<'a> {
        Int(u64),
        Bytes(&'a [u8]),
        Float(f32),
    }

    /// Reads fields one after the other, from the rules and not from the writer.
    fn read(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0u64;
            for at in 0.. {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value += u64::from(byte % 128) << (7 * at);
                if byte < 128 {
                    break;
                }
            }
            value
        }
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let field = match key % 8 {
                0 => Field::Int(varint(&mut bytes)),
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (own, rest) = bytes.split_at(length);
                    bytes = rest;
                    Field::Bytes(own)
                }
                5 => {
                    let (own, rest) = bytes.split_at(4);
                    bytes = rest;
                    Field::Float(f32::from_le_bytes(own.try_into().expect("four bytes")))
                }
                other => panic!("wire type {other}"),
            };
            fields.push((key / 8, field));
        }
        fields
    }

    #[test]
    fn the_examples_of_the_encoding_guide_are_written_as_there() {
        assert_eq!(Message::default().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").into_bytes(), *b"\x12\x07testing");
        let inner = Message::default().int(1, 150);
        assert_eq!(Message::default().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(
            Message::default().int(1, -2).into_bytes(),
            *b"\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"
        );
    }

    #[test]
    fn what_is_written_is_read_again() {
        let numbers = [0, 1, 127, 128, 300, i64::MAX, i64::MIN, -1];
        let message = Message::default().ints(20, &numbers).float(2, 0.5).texts(16, ["", "γ"]);
        assert_eq!(message.len(), message.clone().into_bytes().len());
        let bytes = message.into_bytes();
        let fields = read(&bytes);
        let expected = numbers.iter().map(|v| (20, Field::Int(v.cast_unsigned())));
        let rest = [(2, Field::Float(0.5)), (16, Field::Bytes(b"")), (16, Field::Bytes("γ".as_bytes()))];
        assert_eq!(fields, expected.chain(rest).collect::<Vec<_>>());
    }

    #[test]
    fn long_fields_have_long_lengths() {
        let bytes = Message::default().bytes(9, &[7; 300]).into_bytes();
        assert_eq!(bytes[..3], [9 << 3 | 2, 0xac, 0x02]);
        assert_eq!(read(&bytes), [(9, Field::Bytes(&[7; 300][..]))]);
    }
}
