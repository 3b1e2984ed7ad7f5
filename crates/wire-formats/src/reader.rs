//! Reading bytes in order, and what is said of bytes that are not what they should be.

/// Bytes that are not the header that they should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    /// The bytes end before the header does.
    #[error("the {0} ends too early")]
    Short(&'static str),
    /// A field has a value that the format does not allow.
    #[error("{0}")]
    Wrong(&'static str),
}

/// A position in bytes that are read in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    left: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// At the first byte of `bytes`, which are `what`.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Reader<'a> {
        Reader { left: bytes, what }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, left) = self.left.split_at_checked(count).ok_or(Malformed::Short(self.what))?;
        self.left = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, left) = self.left.split_first_chunk().ok_or(Malformed::Short(self.what))?;
        self.left = left;
        Ok(*taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        self.array().map(|[byte]| byte)
    }

    /// Two bytes in network order.
    pub(crate) fn short(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_be_bytes)
    }

    /// Four bytes in network order.
    pub(crate) fn word(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    /// What has not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.left
    }
}

/// Appends two bytes in network order.
pub(crate) fn put_short(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends four bytes in network order.
pub(crate) fn put_word(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}
