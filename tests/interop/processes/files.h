/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the peers in C and C++: they read files of Arrow's IPC format, and compare. A function that fails writes
 * the reason to standard error and ends the process.
 */
#pragma once

#include <arrowdevice/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_BATCHES = 64 };

/* A file in memory. The caller releases the type and the batches. */
struct file {
  struct ArrowSchema type;
  int n;
  struct ArrowArray batches[MOST_BATCHES];
};

void read_file(const char* path, struct file* out);

/* Require that both types are equal with all names, flags and metadata, or that both arrays have equal values. */
void require_same_type(const char* name, const struct ArrowSchema* type, const struct ArrowSchema* expected);
void require_same_values(const char* name, const struct ArrowSchema* type, const struct ArrowArray* batch,
                         const struct ArrowArray* expected);

#ifdef __cplusplus
}
#endif
