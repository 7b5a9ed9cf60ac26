/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file backend_registry.h
 * Backends: load a plugin, register a backend that is linked in, and read why a backend is not
 * used.
 *
 * Most applications need none of these functions, because the library finds its installed plugins
 * itself. backend.h is for the authors of backends.
 */
#ifndef ARROWDEVICE_BACKEND_REGISTRY_H
#define ARROWDEVICE_BACKEND_REGISTRY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One place that the library searched for a backend, and the result. */
struct arrowdevice_backend_report {
  uint32_t struct_size;
  int32_t status;   /* 0 if the backend was loaded, else the errno value of the refusal */
  char name[16];    /* name of the backend, if it is known */
  char path[1024];  /* file or folder; "" if the backend is built in or registered */
  char reason[488]; /* why the backend is not used, or which device types it serves */
};

/**
 * Loads a backend from a plugin file. Starts no driver.
 *
 * @param absolute_path  Absolute path of the file.
 *
 * Errors:
 * - ENOENT if there is no such file.
 * - EEXIST if a backend with this name, or for one of its device types, is present already.
 * - ENOTSUP if the plugin has another version of the backend table.
 * - EINVAL if the path is not absolute, the file is not a plugin, or its table lacks a required
 *   entry.
 * - EBUSY if code of the plugin calls this function for its own file.
 * - EBUSY in a child process after `fork`, if the parent process was opening this file.
 * - The error that the plugin reports, if its entry function fails.
 * - The general errors.
 * Thread-safety: free. Blocks while another thread loads the same file.
 */
ARROWDEVICE_API int arrowdevice_backend_load(const char* absolute_path, struct arrowdevice_error* error);

/**
 * Registers a backend that is linked into the application.
 *
 * The first backend for a device type serves it until the process ends. The call must therefore
 * come before the first use of its device types.
 *
 * @param table  Backend table, which the library copies. The functions and texts to which the table
 *               points must stay valid until the process ends.
 *
 * Errors:
 * - EEXIST if a backend with this name, or for one of its device types, is present already.
 * - ENOTSUP if the table has another version.
 * - EINVAL if the table lacks a required entry or has an invalid name.
 * - The general errors.
 * Thread-safety: free.
 */
ARROWDEVICE_API int arrowdevice_backend_register(const struct arrowdevice_backend* table,
                                                 struct arrowdevice_error* error);

/**
 * Reads one entry of the list of backends that were loaded, registered or refused, and of folders
 * that were searched in vain. The list is in the order of the search, and gives the reasons.
 *
 * @param index  Index into the list, from 0.
 * @param out    Receives the entry. The caller sets its `struct_size`.
 *
 * Errors:
 * - ENOENT if `index` is negative or past the last entry.
 * - The general errors.
 * Thread-safety: free. If other threads load backends meanwhile, the list grows at its end.
 */
ARROWDEVICE_API int arrowdevice_backend_get_report(int64_t index, struct arrowdevice_backend_report* out,
                                                   struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_BACKEND_REGISTRY_H */
