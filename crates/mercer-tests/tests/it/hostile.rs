//! Files that claim or unpack to more than memory holds, and checkpoints whose parts do not fit together.

use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, NullArray, StringArray};
use arrow::datatypes::Int32Type;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow::record_batch::RecordBatch;
use flate2::Compression;
use flate2::write::GzEncoder;
use mercer::data::encode::EncodeSettings;
use mercer::data::read::{EncodeMode, ReadOptions, read};
use mercer::{Kernel, Shape};
use parquet::arrow::ArrowWriter;

/// What the readers below may take.
const BUDGET: u64 = 4 << 20;

fn options() -> ReadOptions {
    ReadOptions { memory: Some(BUDGET), ..ReadOptions::default() }
}

/// Why the file is refused.
fn refusal(folder: &Path, name: &str, bytes: &[u8], options: &ReadOptions) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("written");
    read(path.to_str().expect("a name"), options).expect_err(name).to_string()
}

fn gzip(parts: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    parts.for_each(|part| out.write_all(&part).expect("packed"));
    out.finish().expect("packed")
}

#[test]
fn a_line_without_end_is_refused_by_the_budget() {
    let folder = tempfile::tempdir().expect("a folder");
    let endless = gzip((0..64).map(|_| vec![b'1'; 1 << 20]));
    for name in ["a.csv.gz", "a.tsv.gz", "a.svm.gz"] {
        let why = refusal(folder.path(), name, &endless, &options());
        assert!(why.contains("line 1 is longer than 1 MB") && why.contains("MERCER_MEMORY"), "{why}");
    }
    // Within quotes, where lines do not end it.
    let quoted = gzip(std::iter::once(b"a,b\n1,\"".to_vec()).chain((0..64).map(|_| b"x\n".repeat(1 << 19))));
    let why = refusal(folder.path(), "a.csv.gz", &quoted, &options());
    assert!(why.contains("line 2 is longer than 1 MB"), "{why}");
}

#[test]
fn columns_of_text_are_refused_by_the_budget() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = |i: u32| format!("{i:0>100},{i}\n").into_bytes();
    let bytes = gzip(std::iter::once(b"a,b\n".to_vec()).chain((0..100_000).map(words)));
    let target = ReadOptions { target: Some("a".into()), ..options() };
    let kept = ReadOptions { keep: vec!["a".into()], drop: vec!["a".into()], ..options() };
    for options in [target, kept] {
        let why = refusal(folder.path(), "a.csv.gz", &bytes, &options);
        assert!(why.contains("columns of text take more memory than the 4 MB"), "{why}");
    }
    let categories = |i: u32| format!("word {i:0>100},{i}\n").into_bytes();
    let bytes = gzip(std::iter::once(b"a,b\n".to_vec()).chain((0..90_000).map(categories)));
    let learned = ReadOptions { encode: EncodeMode::Learn(EncodeSettings::default()), ..options() };
    let why = refusal(folder.path(), "a.csv.gz", &bytes, &learned);
    assert!(why.contains("columns of text take more memory"), "{why}");
    let labels = gzip((0..200_000).map(|i| format!("label{i} 1:1\n").into_bytes()));
    let why = refusal(folder.path(), "a.svm.gz", &labels, &options());
    assert!(why.contains("labels take more memory"), "{why}");
}

/// An NPZ file of zeros of this type and shape.
fn zeros(arrays: &[(&str, &str, &str, usize)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, kind, shape, bytes) in arrays {
        archive
            .start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default())
            .expect("an entry");
        let header = format!("{{'descr': '{kind}', 'fortran_order': True, 'shape': {shape}, }}\n");
        archive.write_all(b"\x93NUMPY\x01\x00").expect("packed");
        archive.write_all(&(header.len() as u16).to_le_bytes()).expect("packed");
        archive.write_all(header.as_bytes()).expect("packed");
        archive.write_all(&vec![0; *bytes]).expect("packed");
    }
    archive.finish().expect("packed").into_inner()
}

#[test]
fn arrays_that_unpack_to_more_than_the_budget_go_to_a_file_or_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = zeros(&[("X", "<f8", "(1000000, 2)", 16_000_000)]);
    assert!(bytes.len() < 100_000, "{} bytes", bytes.len());
    let path = folder.path().join("rows.npz");
    fs::write(&path, bytes).expect("written");
    let table = read(path.to_str().expect("a name"), &options()).expect("rows in a file");
    assert_eq!((table.rows.n(), table.rows.p()), (1_000_000, 2));
    for (kind, size) in [("<i8", 8), ("<f8", 8), ("|b1", 1), ("|S40", 40)] {
        let target = ("y", kind, "(1000000,)", 1_000_000 * size);
        let options = ReadOptions { target: Some("y".into()), ..options() };
        let why = refusal(
            folder.path(),
            "a.npz",
            &zeros(&[("X", "|u1", "(1000000, 1)", 1_000_000), target]),
            &options,
        );
        assert!(why.contains("array `y`: its items take more memory"), "{why}");
    }
    let sparse = [
        ("data", "<f8", "(2000000,)", 16_000_000),
        ("indices", "<i4", "(2000000,)", 8_000_000),
        ("indptr", "<i8", "(1,)", 8),
        ("shape", "<i8", "(2,)", 16),
    ];
    let why = refusal(folder.path(), "a.npz", &zeros(&sparse), &options());
    assert!(why.contains("its items take more memory"), "{why}");
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("a batch")
}

fn arrow(batch: &RecordBatch, compression: Option<CompressionType>, stream: bool) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).expect("options");
    let mut out = Vec::new();
    if stream {
        let mut writer =
            StreamWriter::try_new_with_options(&mut out, &batch.schema(), options).expect("a stream");
        writer.write(batch).and_then(|()| writer.finish()).expect("written");
    } else {
        let mut writer =
            FileWriter::try_new_with_options(&mut out, &batch.schema(), options).expect("a file");
        writer.write(batch).and_then(|()| writer.finish()).expect("written");
    }
    out
}

#[test]
fn a_batch_that_unpacks_to_more_than_the_budget_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = batch(vec![("a", Arc::new(Float64Array::from(vec![0.0; 1_000_000])))]);
    for compression in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        for stream in [false, true] {
            let bytes = arrow(&rows, Some(compression), stream);
            let why = refusal(folder.path(), "a.arrow", &bytes, &options());
            assert!(why.contains("rows, which are compressed, take more memory than the 4 MB"), "{why}");
            // Lengths that no machine has were an abort of the process.
            let length = 8_000_000u64.to_le_bytes();
            let at = bytes.windows(8).position(|window| window == length).expect("the length of the buffer");
            let mut absurd = bytes.clone();
            absurd[at..at + 8].copy_from_slice(&(1u64 << 50).to_le_bytes());
            let why = refusal(folder.path(), "a.arrow", &absurd, &ReadOptions::default());
            assert!(why.contains("which it cannot hold"), "{why}");
        }
    }
}

#[test]
fn rows_without_bytes_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let nulls = batch(vec![("a", Arc::new(NullArray::new(1 << 40)))]);
    let learned = ReadOptions { encode: EncodeMode::Learn(EncodeSettings::default()), ..options() };
    for stream in [false, true] {
        let why = refusal(folder.path(), "a.arrow", &arrow(&nulls, None, stream), &learned);
        assert!(why.contains("it claims 1099511627776 rows of 0 bytes"), "{why}");
    }
}

#[test]
fn one_long_word_in_many_rows_is_refused_as_a_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let keys = Int32Array::from(vec![0; 100_000]);
    let words =
        DictionaryArray::<Int32Type>::try_new(keys, Arc::new(StringArray::from(vec!["x".repeat(100_000)])));
    let numbers = Float64Array::from(vec![1.0; 100_000]);
    let rows =
        batch(vec![("a", Arc::new(numbers)), ("y", Arc::new(words.expect("words")) as Arc<dyn Array>)]);
    let target = ReadOptions { target: Some("y".into()), ..options() };
    let why = refusal(folder.path(), "a.arrow", &arrow(&rows, None, false), &target);
    assert!(why.contains("columns of text take more memory"), "{why}");
}

#[test]
fn parquet_pages_that_claim_more_than_they_hold_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.parquet");
    let zeros: Vec<f64> = (0..1_000_000).map(|i| f64::from(i % 50_000)).collect();
    let rows = batch(vec![("a", Arc::new(Float64Array::from(zeros)))]);
    let settings = parquet::file::properties::WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(1 << 30)
        .set_write_batch_size(1 << 20)
        .build();
    let file = File::create(&path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(settings)).expect("a writer");
    writer.write(&rows).expect("written");
    writer.close().expect("closed");
    let bytes = fs::read(&path).expect("read");
    let why = refusal(folder.path(), "b.parquet", &bytes, &options());
    assert!(why.contains("pages, once unpacked, take more memory than the 4 MB"), "{why}");
    // Type, then the unpacked size of 8 million bytes, as the first page's header has them.
    let header = [0x15, 0x00, 0x15, 0x80, 0xc8, 0xd0, 0x07];
    assert!(bytes.windows(7).any(|window| window == header), "one page of all values");
}

#[test]
fn parquet_pages_that_claim_more_strings_than_values_are_refused() {
    use parquet::basic::Encoding;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    let folder = tempfile::tempdir().expect("a folder");
    let words: Vec<String> = (0..20_000).map(|i| format!("word {}", i % 7)).collect();
    let numbers: Vec<f64> = (0..20_000).map(f64::from).collect();
    let columns: Vec<(&str, ArrayRef)> =
        vec![("a", Arc::new(Float64Array::from(numbers))), ("b", Arc::new(StringArray::from(words)))];
    let rows = batch(columns);
    let plain = ReadOptions { target: Some("b".into()), ..ReadOptions::default() };
    // 20 000 as the number of lengths, in blocks of 128 in 4 parts, and 2 000 000 in its place.
    let (given, claimed) = ([0x80, 1, 4, 0xa0, 0x9c, 1], [0x80, 1, 4, 0x80, 0x89, 0x7a]);
    for (version, encoding, runs) in [
        (WriterVersion::PARQUET_1_0, Encoding::DELTA_LENGTH_BYTE_ARRAY, 1),
        (WriterVersion::PARQUET_2_0, Encoding::DELTA_LENGTH_BYTE_ARRAY, 1),
        (WriterVersion::PARQUET_1_0, Encoding::DELTA_BYTE_ARRAY, 2),
        (WriterVersion::PARQUET_2_0, Encoding::DELTA_BYTE_ARRAY, 2),
    ] {
        let settings = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_writer_version(version)
            .set_column_encoding("b".into(), encoding);
        let mut writer =
            ArrowWriter::try_new(Vec::new(), rows.schema(), Some(settings.build())).expect("a writer");
        writer.write(&rows).expect("written");
        let bytes = writer.into_inner().expect("written");
        let path = folder.path().join("whole.parquet");
        fs::write(&path, &bytes).expect("written");
        read(path.to_str().expect("a name"), &plain).expect("a whole file is read");
        let places: Vec<usize> = (0..bytes.len() - 6).filter(|&at| bytes[at..at + 6] == given).collect();
        assert_eq!(places.len(), runs, "{encoding}");
        for at in places {
            let mut changed = bytes.clone();
            changed[at..at + 6].copy_from_slice(&claimed);
            let why = refusal(folder.path(), "changed.parquet", &changed, &plain);
            assert!(why.contains("a page of 20000 values claims 2000000 strings"), "{encoding}: {why}");
        }
    }
}

#[test]
fn a_parquet_schema_that_nests_without_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = include_bytes!("../../../../fuzz/corpus/parquet/schema_nests_2000_levels");
    let why = refusal(folder.path(), "a.parquet", bytes, &options());
    assert!(why.contains("2000 levels deep; at most 100 can be read"), "{why}");
    // The decoder reads the first of two schemas as well.
    let (list, within, last) = ([0x09, 4, 0xfc, 0xa0, 0x1f], [0x48, 1, b'a', 0x15, 2, 0], [0x48, 1, b'a', 0]);
    let deep = [&list[..], &within.repeat(3_999), &last].concat();
    let flat = [&[0x09, 4, 0x1c][..], &last].concat();
    let footer = [&deep[..], &flat, &[0]].concat();
    let why = refusal(folder.path(), "two.parquet", &parquet_file(&footer), &options());
    assert!(why.contains("3999 levels deep; at most 100 can be read"), "{why}");
}

/// A Parquet file that has metadata and no more.
fn parquet_file(footer: &[u8]) -> Vec<u8> {
    [b"PAR1", footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

#[test]
fn parquet_metadata_of_more_columns_than_memory_has_room_for_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    // 200 000 columns, of which each takes 4 bytes here and some hundreds once it is read.
    let (list, columns) = ([0x29, 0xfc, 0xc0, 0x9a, 0x0c], [0x48, 1, b'a', 0].repeat(200_000));
    let footer = [&list[..], &columns, &[0]].concat();
    let small = ReadOptions { memory: Some(64 << 20), ..options() };
    let why = refusal(folder.path(), "a.parquet", &parquet_file(&footer), &small);
    assert!(why.contains("its metadata take more memory than the 67 MB"), "{why}");
}

#[test]
fn parquet_files_that_claim_more_than_they_hold_are_refused_before_they_are_decoded() {
    let folder = tempfile::tempdir().expect("a folder");
    let with_target = ReadOptions { target: Some("y".into()), ..options() };
    for (bytes, what) in [
        (
            &include_bytes!("../../../../fuzz/corpus/parquet/schema_claims_a_billion_columns")[..],
            "its metadata are damaged",
        ),
        (
            include_bytes!("../../../../fuzz/corpus/parquet/metadata_list_two_billion_booleans"),
            "its metadata are damaged",
        ),
        (
            include_bytes!("../../../../fuzz/corpus/parquet/page_header_of_lists_within_lists"),
            "the header of a page is damaged",
        ),
        (
            include_bytes!("../../../../fuzz/corpus/parquet/page_header_of_other_types"),
            "the header of a page is damaged",
        ),
    ] {
        let why = refusal(folder.path(), "a.parquet", bytes, &with_target);
        assert!(why.contains(what), "{why}");
    }
}

#[test]
fn kernels_that_nest_without_end_or_name_every_column_are_refused() {
    let nested = format!("{}linear{}", "(".repeat(100_000), ")".repeat(100_000));
    let why = nested.parse::<Shape>().expect_err("nested").to_string();
    assert!(why.contains("more than 50 parentheses"), "{why}");
    for text in ["rbf(gamma=1, columns=0:99999999)", "rbf(gamma=1, columns=0:18446744073709551615)"] {
        let why = text.parse::<Kernel>().expect_err(text).to_string();
        assert!(why.contains("at most 1048576 are allowed"), "{why}");
    }
    // Multiplied out, each column is there a hundred times.
    let many = format!("rbf(columns=0:100000)*({})", ["linear"; 100].join("+"));
    let why = many.parse::<Shape>().expect_err("many").to_string();
    assert!(why.contains("10000000 columns in its parts"), "{why}");
    // No place comes after this one, so that it can only be a name.
    assert!("rbf(columns=18446744073709551615)".parse::<Shape>().is_ok());
}
