/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin without an entry point. Its dependency has an entry point. */
#include <arrowdevice/backend.h>

const struct arrowdevice_backend* arrowdevice_backend_entry(uint32_t host_abi, struct arrowdevice_error* error);
arrowdevice_backend_entry_function arrowdevice_test_dependent(void);
arrowdevice_backend_entry_function arrowdevice_test_dependent(void) { return arrowdevice_backend_entry; }
