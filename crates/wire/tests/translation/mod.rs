mod cases;
mod driver;
mod normal;
mod oracle;
mod pattern;
