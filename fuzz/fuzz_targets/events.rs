#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| headgate_fuzz::invariants::events(input));
