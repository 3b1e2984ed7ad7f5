//! The file around the sections: its first bytes, chunks with checksums, blocks, and the end.

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use crate::crc::crc32;
use crate::error::RecordingError;

/// The first bytes of a recording. The first is no letter and the last are a line's end, so that no program
/// takes it for text, and a transfer as text destroys it at once.
pub(crate) const MAGIC: [u8; 8] = *b"\x89MLREC\r\n";
/// The last bytes of a recording that is complete.
pub(crate) const END_MAGIC: [u8; 8] = *b"\r\nMLREND";
/// The bytes before the first chunk.
pub(crate) const FILE_HEAD: u64 = 16;
/// The bytes before what a chunk stores.
pub(crate) const CHUNK_HEAD: usize = 16;
/// The bytes after the last chunk of a recording that is complete.
pub(crate) const TRAILER: u64 = 16;
/// The bytes of a block before its section.
pub(crate) const BLOCK_HEAD: usize = 48;
/// Most bytes of a section, before it is compressed.
pub(crate) const MOST_RAW: usize = 1 << 28;
/// Most events of a block.
pub(crate) const MOST_EVENTS: usize = 1 << 16;
/// zlib's level of compression: the bytes have been sorted by kind, and more effort gains little.
const LEVEL: u8 = 1;

/// What a chunk is.
pub(crate) type ChunkType = [u8; 4];
pub(crate) const HEAD: ChunkType = *b"HEAD";
pub(crate) const MOVE: ChunkType = *b"MOVE";
pub(crate) const BLOCK: ChunkType = *b"BLCK";
pub(crate) const INDEX: ChunkType = *b"INDX";

/// What can be known of a block without decompressing it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockInfo {
    /// Where its chunk begins in the file.
    pub offset: u64,
    /// Bytes that its chunk stores.
    pub stored: u32,
    /// The time of its first event, ns.
    pub first_ns: u64,
    /// The time of its last event, ns.
    pub last_ns: u64,
    /// Events before it.
    pub first_event: u64,
    /// Its events.
    pub events: u32,
    /// The number of its first frame.
    pub first_frame: u64,
    /// Its frames.
    pub frames: u32,
}

impl BlockInfo {
    pub(crate) fn to_bytes(self) -> [u8; BLOCK_HEAD] {
        let mut bytes = [0; BLOCK_HEAD];
        for (at, value) in
            [self.first_ns, self.last_ns, self.first_event, self.first_frame].iter().enumerate()
        {
            bytes[8 * at..8 * at + 8].copy_from_slice(&value.to_le_bytes());
        }
        bytes[32..36].copy_from_slice(&self.events.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.frames.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes(bytes: &[u8; BLOCK_HEAD], offset: u64, stored: u32) -> BlockInfo {
        BlockInfo {
            offset,
            stored,
            first_ns: u64_at(bytes, 0),
            last_ns: u64_at(bytes, 8),
            first_event: u64_at(bytes, 16),
            first_frame: u64_at(bytes, 24),
            events: u32_at(bytes, 32),
            frames: u32_at(bytes, 36),
        }
    }
}

/// The number in these bytes from `at` on; zero beyond their end.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// The number in these bytes from `at` on; zero beyond their end.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// The head of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChunkHead {
    pub(crate) kind: ChunkType,
    pub(crate) stored: u32,
    pub(crate) raw: u32,
    pub(crate) crc: u32,
}

impl ChunkHead {
    pub(crate) fn from_bytes(bytes: &[u8; CHUNK_HEAD]) -> ChunkHead {
        let kind = [bytes[0], bytes[1], bytes[2], bytes[3]];
        ChunkHead { kind, stored: u32_at(bytes, 4), raw: u32_at(bytes, 8), crc: u32_at(bytes, 12) }
    }
}

/// A chunk with `before` as it is and `raw` compressed.
pub(crate) fn chunk(kind: ChunkType, before: &[u8], raw: &[u8]) -> Vec<u8> {
    let compressed = compress_to_vec_zlib(raw, LEVEL);
    let mut bytes = Vec::with_capacity(CHUNK_HEAD + before.len() + compressed.len());
    bytes.extend(kind);
    bytes.extend(((before.len() + compressed.len()) as u32).to_le_bytes());
    bytes.extend((raw.len() as u32).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(before);
    bytes.extend(compressed);
    let crc = crc32(&bytes[CHUNK_HEAD..]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// What a chunk at byte `at` of the file stores, decompressed, without the first `before` bytes.
pub(crate) fn unpack(
    head: &ChunkHead,
    stored: &[u8],
    before: usize,
    at: u64,
) -> Result<Vec<u8>, RecordingError> {
    if crc32(stored) != head.crc {
        return Err(RecordingError::damaged(at, "the checksum does not fit: bytes have changed"));
    }
    let raw = head.raw as usize;
    if raw > MOST_RAW {
        return Err(RecordingError::damaged(at, format!("{raw} bytes in one chunk")));
    }
    let compressed = stored.get(before..).unwrap_or_default();
    match decompress_to_vec_zlib_with_limit(compressed, raw) {
        Ok(bytes) if bytes.len() == raw => Ok(bytes),
        Ok(bytes) => {
            let what = format!("{} bytes come out of a chunk that should hold {raw}", bytes.len());
            Err(RecordingError::damaged(at, what))
        }
        Err(error) => Err(RecordingError::damaged(at, format!("a chunk cannot be decompressed: {error}"))),
    }
}

/// A file with this block: its head's 48 bytes, and its section before it is compressed. For tests and
/// fuzzing: what stands behind checksums and compression is reached by no change of a file's bytes.
#[doc(hidden)]
pub fn sealed(block_head: &[u8; BLOCK_HEAD], raw: &[u8]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    file.extend(u64::from(manetlab_core::observe::RECORDING_VERSION).to_le_bytes());
    file.extend(chunk(HEAD, &[], br#"{"format":"manetlab-recording","tables":[]}"#));
    // A section without strings and tables.
    file.extend(chunk(MOVE, &[], b"\x02\0\0\0[]\0\0\0\0"));
    file.extend(chunk(BLOCK, block_head, raw));
    file
}
