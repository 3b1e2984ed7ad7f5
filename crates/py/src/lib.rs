//! The Python binding of manetlab's core.
