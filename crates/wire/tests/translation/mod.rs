mod cases;
mod driver;
mod normal;
mod oracle;
mod pattern;
mod symptoms_history;
mod symptoms_options;
mod symptoms_streams;
