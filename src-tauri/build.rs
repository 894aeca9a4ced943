//! Checks the shell's configuration and names the commands the pages may call.

fn main() {
    let commands = tauri_build::AppManifest::new().commands(&[
        "admin_request",
        "admin_stop",
        "shell_state",
        "shell_retry",
        "shell_unseal",
        "shell_language",
        "save_file",
        "open_external",
    ]);
    if let Err(why) = tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands)) {
        println!("cargo::error={why:#}");
    }
}
