//! The result hash: SHA-256 over the measures in their shortest exact decimal form.

use std::fmt::{Debug, Write};

use sha2::{Digest, Sha256};

/// Hashes whatever can be written with all its digits.
#[derive(Default)]
pub struct ResultHash(Sha256);

impl ResultHash {
    /// The first 128 bits of the hash of `value`, as 32 hexadecimal digits. Floats are written in the shortest
    /// form that reads back as the same bits, so equal hashes mean equal results to the last bit.
    #[expect(clippy::expect_used, reason = "neither hashing nor writing to a `String` fails")]
    pub fn of(value: &impl Debug) -> String {
        let mut hash = ResultHash::default();
        write!(hash, "{value:?}").expect("hashing cannot fail");
        hash.0.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("writing to a string cannot fail");
            text
        })
    }
}

impl Write for ResultHash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bit_matters() {
        let x = 0.1f64;
        assert_eq!(ResultHash::of(&x).len(), 32);
        assert_ne!(ResultHash::of(&x), ResultHash::of(&f64::from_bits(x.to_bits() + 1)));
    }
}
