//! Who gets a request, and what a result means.
