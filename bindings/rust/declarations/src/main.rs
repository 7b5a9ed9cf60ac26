// SPDX-License-Identifier: Apache-2.0
//! Writes `arrowdevice-sys/src/declarations.rs` from `arrowdevice.h`. Its test fails if the two
//! differ.
//!
//! Needs libclang (Debian and Ubuntu: `libclang-dev`) and rustfmt.

mod comment;

use std::path::PathBuf;

use bindgen::callbacks::{IntKind, ParseCallbacks};

/// Prefixes of constants, with the type of the member or parameter that takes them.
const CONSTANTS: &[(&str, IntKind)] = &[
    (
        "ARROW_DEVICE_",
        IntKind::Custom {
            name: "ArrowDeviceType",
            is_signed: true,
        },
    ),
    ("ARROW_FLAG_", IntKind::I64),
    ("ARROWDEVICE_ASYNC_LAYOUT_", IntKind::I32),
    ("ARROWDEVICE_BUFFER_", IntKind::U32),
    ("ARROWDEVICE_COPY_", IntKind::U32),
    ("ARROWDEVICE_DEVICE_", IntKind::U64),
    ("ARROWDEVICE_IMPORT_", IntKind::U32),
    ("ARROWDEVICE_LAYOUT_", IntKind::I32),
    ("ARROWDEVICE_LINK_", IntKind::U32),
    ("ARROWDEVICE_NO_TIMEOUT", IntKind::I64),
    ("ARROWDEVICE_PEER_", IntKind::U32),
    ("ARROWDEVICE_POLL", IntKind::I64),
    ("ARROWDEVICE_ROLE_", IntKind::U32),
    ("ARROWDEVICE_STREAM_", IntKind::U32),
    ("ARROWDEVICE_VALIDATE_", IntKind::I32),
    ("ARROWDEVICE_VERSION_", IntKind::U32),
];

/// Structs with one owner. A copy by accident would release them twice.
const OWNING: &str = "Arrow(Schema|Array|DeviceArray|ArrayStream|DeviceArrayStream)|DLManagedTensor.*";

#[derive(Debug)]
struct Style;

impl ParseCallbacks for Style {
    fn int_macro(&self, name: &str, _value: i64) -> Option<IntKind> {
        CONSTANTS
            .iter()
            .find(|(start, _)| name.starts_with(start))
            .map(|(_, kind)| *kind)
    }

    fn process_comment(&self, comment: &str) -> Option<String> {
        Some(comment::to_markdown(comment))
    }
}

/// Asks cargo at run time, because a shared target folder may hold a build of another checkout.
fn here() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo runs this"))
}

fn header() -> PathBuf {
    here().join("../../../include/arrowdevice/arrowdevice.h")
}

fn checked_in() -> PathBuf {
    here().join("../arrowdevice-sys/src/declarations.rs")
}

/// Generates the declarations from the current header.
fn generate() -> String {
    bindgen::Builder::default()
        .header(header().to_str().expect("the repository's path is UTF-8"))
        .raw_line("// SPDX-License-Identifier: Apache-2.0")
        .raw_line("// Generated from arrowdevice.h by `cargo run -p declarations`. Do not edit.")
        .disable_header_comment()
        .allowlist_function("arrowdevice_.*")
        .allowlist_type("Arrow.*|arrowdevice_.*")
        .allowlist_var("ARROW_.*|ARROWDEVICE_.*")
        .blocklist_item("ARROWDEVICE_API|ARROWDEVICE_.*_H")
        .rust_target(bindgen::RustTarget::stable(85, 0).expect("bindgen supports Rust 1.85"))
        .rust_edition(bindgen::RustEdition::Edition2024)
        .use_core()
        .derive_default(true)
        .no_copy(OWNING)
        .merge_extern_blocks(true)
        .parse_callbacks(Box::new(Style))
        .formatter(bindgen::Formatter::Rustfmt)
        .rustfmt_configuration_file(Some(
            here()
                .join("../rustfmt.toml")
                .canonicalize()
                .expect("rustfmt.toml exists"),
        ))
        .generate()
        .expect("libclang parses the header")
        .to_string()
}

fn main() {
    let file = checked_in();
    std::fs::write(&file, generate()).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

#[cfg(test)]
mod tests {
    use super::{checked_in, generate};

    #[test]
    fn declarations_match_the_header() {
        let generated = generate();
        let checked_in = std::fs::read_to_string(checked_in()).expect("declarations.rs exists");
        if let Some((line, (now, then))) = generated
            .lines()
            .zip(checked_in.lines())
            .enumerate()
            .find(|(_, (now, then))| now != then)
        {
            panic!(
                "declarations.rs, line {}: the header has\n  {now}\ninstead of\n  {then}\nRun `cargo run -p declarations`.",
                line + 1
            );
        }
        assert_eq!(
            generated.len(),
            checked_in.len(),
            "declarations.rs and the header differ at the end. Run `cargo run -p declarations`."
        );
    }
}
