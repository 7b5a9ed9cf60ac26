// SPDX-License-Identifier: Apache-2.0
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::call::{call, sized, text};
use crate::error::{Error, ErrorKind, Result};
use crate::sys;

/// Loads a backend from a plugin file at an absolute path.
///
/// # Safety
/// The plugin's code runs in this process.
pub unsafe fn load_backend(absolute_path: impl AsRef<Path>) -> Result<()> {
    let path = absolute_path.as_ref();
    let path = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::invalid(format!("path {} has a zero byte", path.display())))?;
    // SAFETY: the path is terminated, and the caller trusts the plugin.
    call(|error| unsafe { sys::arrowdevice_backend_load(path.as_ptr(), error) })
}

/// One place where the library looked for a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendReport {
    /// 0 if the backend is loaded, else the `errno` value of the failure.
    pub status: i32,
    /// The backend's name, empty if unknown.
    pub name: String,
    /// File or folder; empty for a backend that is built in or registered.
    pub path: PathBuf,
    /// Why the backend is not used, or which devices it drives.
    pub reason: String,
}

/// Lists every place where the library has looked for a backend so far, in order, with the reason
/// if one is not loaded.
pub fn backend_reports() -> Result<Vec<BackendReport>> {
    let mut reports = Vec::new();
    loop {
        let mut raw = sized!(arrowdevice_backend_report);
        // SAFETY: the struct's size is set.
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
