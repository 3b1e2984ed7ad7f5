//! What the fuzz targets have in common, and what they do with the bytes that libFuzzer gives them.

pub mod machines;
