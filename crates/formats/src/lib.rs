//! Readers and writers of ns-2's movement and traffic files.
