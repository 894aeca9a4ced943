//! The languages.
