//! Checks the shell's configuration and names the commands the pages may call.

fn main() {
    println!("cargo::rerun-if-changed=../ui/dist");
    // The pages are embedded; without them (a check of the code alone) a blank one stands for them.
    let page = std::path::Path::new("../ui/dist/index.html");
    if !page.exists() {
        let made = std::fs::create_dir_all("../ui/dist").and_then(|()| std::fs::write(page, "<!doctype html>"));
        if let Err(why) = made {
            println!("cargo::error=ui/dist cannot be made: {why}");
        }
    }
    let commands = tauri_build::AppManifest::new().commands(&[
        "admin_request",
        "admin_stop",
        "shell_state",
        "shell_retry",
        "shell_use_address",
        "shell_unseal",
        "shell_language",
        "shell_notices",
        "shell_set_notice",
        "save_file",
        "open_external",
    ]);
    if let Err(why) = tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands)) {
        println!("cargo::error={why:#}");
    }
}
