/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the peers in C and C++: handles go through standard input, which is a socket of type SOCK_SEQPACKET. A
 * function that fails writes the reason to standard error and ends the process.
 */
#pragma once

#include <arrowdevice/arrowdevice.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LONGEST_NAME = 512 };

/* Receives the request for a batch of a stream. Returns 0 if no process can send one any more. */
int receive_request(char name[LONGEST_NAME], int* batch);

/* Answers a request. */
void send_handle(const struct arrowdevice_ipc_handle* handle);

/* Requests a batch of a stream, and opens its handle. */
void request_array(const char* name, int batch, struct ArrowDeviceArray* out, struct ArrowSchema* type);

#ifdef __cplusplus
}
#endif
