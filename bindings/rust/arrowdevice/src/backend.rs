// SPDX-License-Identifier: Apache-2.0
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::call::{call, sized, text};
use crate::error::{Error, ErrorKind, Result};
use crate::sys;

/// Loads a backend from a plugin file, named by its absolute path.
///
/// # Safety
/// The plugin's code runs in this process.
pub unsafe fn load_backend(absolute_path: impl AsRef<Path>) -> Result<()> {
    let path = absolute_path.as_ref();
    let path = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::invalid(format!("{}: a path without zero bytes is needed", path.display())))?;
    // SAFETY: the path is terminated; of the plugin, the caller's.
    call(|error| unsafe { sys::arrowdevice_backend_load(path.as_ptr(), error) })
}

/// One place where a backend was looked for, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendReport {
    /// 0 loaded, else the `errno` value that it was refused with.
    pub status: i32,
    /// The backend, as far as it is known.
    pub name: String,
    /// File or folder; empty for one that is built in or registered.
    pub path: PathBuf,
    /// Why it was not used, or what it serves.
    pub reason: String,
}

/// Every place looked at so far, in the order of looking, loaded or not and why not.
pub fn backend_reports() -> Result<Vec<BackendReport>> {
    let mut reports = Vec::new();
    loop {
        let mut raw = sized!(arrowdevice_backend_report);
        // SAFETY: the size is set.
        match call(|error| unsafe { sys::arrowdevice_backend_get_report(reports.len() as i64, &raw mut raw, error) }) {
            Ok(()) => reports.push(BackendReport {
                status: raw.status,
                name: text(&raw.name),
                path: PathBuf::from(text(&raw.path)),
                reason: text(&raw.reason),
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(reports),
            Err(error) => return Err(error),
        }
    }
}
