/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of the library waits for its own threads, and these wait for the GIL where a producer is Python or gives
 * memory of NumPy back. Consumers hold the GIL or not while they pull and release, as they like. So what they get lets
 * go of it first. Two of their threads may then meet in one stream, which the GIL kept apart: the second one waits.
 *
 * Arrays need none of that: their release does not wait for work of the library, by its contract.
 */
#ifndef ARROWDEVICE_PYTHON_OUTGOING_H
#define ARROWDEVICE_PYTHON_OUTGOING_H

#include <arrowdevice/abi.h>

/* Each takes a stream of the library and puts one of ours in its place. ENOMEM: it is left as it was. */
int outgoing_device_stream(struct ArrowDeviceArrayStream* inout);
int outgoing_host_stream(struct ArrowArrayStream* inout);

#endif
