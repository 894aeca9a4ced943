//! What applying a file would change.
