//! The file around the sections: its first bytes, chunks with checksums, blocks, and the end.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::columns::Raw;
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
const LEVEL: u32 = 2;
/// Bytes of one kind that are worth a code of their own.
const LEAST_PIECE: usize = 1 << 12;
/// Bytes of a compressed stream that are made at a time.
const ROOM: usize = 1 << 15;
/// The version of files. JSON lines have their own.
pub(crate) const VERSION: u32 = 3;
/// Files from this version on are read; version 3 has one more way to store columns.
pub(crate) const OLDEST_VERSION: u32 = 2;

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
pub(crate) fn chunk(kind: ChunkType, before: &[u8], raw: &Raw) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(CHUNK_HEAD + before.len() + raw.bytes.len() / 2);
    bytes.extend(kind);
    bytes.extend([0; 4]);
    bytes.extend((raw.bytes.len() as u32).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(before);
    compress(raw, &mut bytes);
    let stored = (bytes.len() - CHUNK_HEAD) as u32;
    bytes[4..8].copy_from_slice(&stored.to_le_bytes());
    let crc = crc32(&bytes[CHUNK_HEAD..]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Appends a zlib stream. Bytes of another kind get codes of their own, as far as they are many.
fn compress(raw: &Raw, out: &mut Vec<u8>) {
    let mut stream = Compress::new(Compression::new(LEVEL), true);
    let mut room = vec![0; ROOM];
    let mut from = 0;
    for &cut in &raw.cuts {
        if cut - from >= LEAST_PIECE {
            squeeze(&mut stream, &raw.bytes[from..cut], FlushCompress::Sync, &mut room, out);
            from = cut;
        }
    }
    squeeze(&mut stream, &raw.bytes[from..], FlushCompress::Finish, &mut room, out);
}

fn squeeze(
    stream: &mut Compress,
    mut piece: &[u8],
    flush: FlushCompress,
    room: &mut [u8],
    out: &mut Vec<u8>,
) {
    loop {
        let (before_in, before_out) = (stream.total_in(), stream.total_out());
        let status = stream.compress(piece, room, flush);
        let made = (stream.total_out() - before_out) as usize;
        out.extend(&room[..made]);
        piece = &piece[(stream.total_in() - before_in) as usize..];
        match status {
            // What is left of a flush comes out as long as there is no room for it.
            Ok(Status::Ok | Status::BufError) if made == room.len() || !piece.is_empty() => {}
            Ok(_) => return,
            Err(error) => {
                debug_assert!(false, "{error}: only a call out of turn fails");
                return;
            }
        }
    }
}

/// The content of a zlib stream, which should have `length` bytes.
fn inflate(stored: &[u8], length: usize) -> Result<Vec<u8>, String> {
    let mut stream = Decompress::new(true);
    // Room for a byte too many tells a longer stream from a whole one.
    let mut bytes = Vec::with_capacity(length + 1);
    loop {
        let before = (stream.total_in(), stream.total_out());
        let rest = &stored[before.0 as usize..];
        match stream.decompress_vec(rest, &mut bytes, FlushDecompress::None) {
            Err(error) => return Err(format!("a chunk cannot be decompressed: {error}")),
            Ok(Status::StreamEnd) if bytes.len() == length => return Ok(bytes),
            Ok(_) if before != (stream.total_in(), stream.total_out()) && bytes.len() <= length => {}
            Ok(_) => return Err(format!("a chunk does not hold {length} bytes")),
        }
    }
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
    inflate(compressed, raw).map_err(|what| RecordingError::damaged(at, what))
}

/// A file with this block: its head's 48 bytes, and its section before it is compressed. For tests and
/// fuzzing: what stands behind checksums and compression is reached by no change of a file's bytes.
#[doc(hidden)]
pub fn sealed(block_head: &[u8; BLOCK_HEAD], raw: &[u8]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    let plain = |bytes: &[u8]| Raw { bytes: bytes.to_vec(), cuts: Vec::new() };
    file.extend(u64::from(VERSION).to_le_bytes());
    file.extend(chunk(HEAD, &[], &plain(br#"{"format":"manetlab-recording","tables":[]}"#)));
    // A section without strings and tables.
    file.extend(chunk(MOVE, &[], &plain(b"\x02\0\0\0[]\0\0\0\0")));
    file.extend(chunk(BLOCK, block_head, &plain(raw)));
    file
}
