//! The pages are embedded: a new build of them is a new build of this.

fn main() {
    println!("cargo::rerun-if-changed=../../ui/dist");
}
