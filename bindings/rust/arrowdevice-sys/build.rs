// SPDX-License-Identifier: Apache-2.0
//! Finds libarrowdevice.

use std::env;
use std::path::Path;
use std::process::exit;

const LIB_DIR: &str = "ARROWDEVICE_LIB_DIR";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={LIB_DIR}");
    println!("cargo::rerun-if-env-changed=DOCS_RS");
    if env::var_os("DOCS_RS").is_some() {
        return; // docs.rs builds the documentation without the library and links nothing
    }
    if let Some(folder) = env::var_os(LIB_DIR) {
        link_in(Path::new(&folder));
    } else if let Err(error) = pkg_config::Config::new()
        .atleast_version(env!("CARGO_PKG_VERSION"))
        .probe("arrowdevice")
    {
        eprintln!("{error}");
        fail(
            "libarrowdevice was not found. Install it (`meson install` puts arrowdevice.pc into lib/pkgconfig; if \
             pkg-config does not search that folder, add it to PKG_CONFIG_PATH), or set ARROWDEVICE_LIB_DIR to the folder of \
             libarrowdevice.so.",
        );
    }
}

fn link_in(folder: &Path) {
    let folder = folder.canonicalize().unwrap_or_else(|error| {
        fail(&format!("{LIB_DIR}={}: {error}.", folder.display()));
    });
    let names = ["libarrowdevice.so", "libarrowdevice.dylib"];
    if !names.iter().any(|name| folder.join(name).exists()) {
        fail(&format!(
            "{LIB_DIR}={}: the folder has no libarrowdevice.so.",
            folder.display()
        ));
    }
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=arrowdevice");
}

/// Ends the build with a message that cargo shows without a backtrace.
fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1);
}
