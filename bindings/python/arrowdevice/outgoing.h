/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams for consumers that may hold the GIL. A stream of the library waits for its threads. These threads wait for
 * the GIL if a producer is Python code or owns memory of NumPy. So the callbacks release the GIL before they call the
 * library. The GIL then no longer keeps two threads of a consumer out of one stream, so that a mutex does.
 *
 * Arrays need no such callbacks, because their release does not wait for work of the library.
 */
#ifndef ARROWDEVICE_PYTHON_OUTGOING_H
#define ARROWDEVICE_PYTHON_OUTGOING_H

#include <arrowdevice/abi.h>

/* Each replaces a stream of the library by one that releases the GIL. Fails with ENOMEM and leaves the stream
 * unchanged. */
int outgoing_device_stream(struct ArrowDeviceArrayStream* inout);
int outgoing_host_stream(struct ArrowArrayStream* inout);

#endif
