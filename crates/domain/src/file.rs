//! Reading a configuration file.
