/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_DLPACK_H
#define ARROWDEVICE_DLPACK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

ARROWDEVICE_API int arrowdevice_dlpack_export(struct ArrowDeviceArray* inout, const struct ArrowSchema* schema,
                                              struct arrowdevice_queue* consumer_queue,
                                              struct DLManagedTensorVersioned** out, struct arrowdevice_error* error);

ARROWDEVICE_API int arrowdevice_dlpack_import(struct DLManagedTensorVersioned* moved,
                                              struct arrowdevice_queue* producer_queue, struct ArrowDeviceArray* out,
                                              struct ArrowSchema* out_schema, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif
