/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the program share. */
#ifndef FIRST_PROGRAM_H
#define FIRST_PROGRAM_H

#include <arrowdevice/arrowdevice.h>
#include <string.h>

/* Of the call that is being checked. */
extern struct arrowdevice_error error;

/* What is not so is printed, and the program fails in the end. */
#define CHECK(condition)                                         \
  do {                                                           \
    if (!(condition)) is_not_so(__FILE__, __LINE__, #condition); \
  } while (0)
/* A call that succeeds. The program ends where it does not: what follows needs its result. */
#define OK(call) (memset(&error, 0, sizeof error), succeeds(__FILE__, __LINE__, #call, call))
/* A call that fails with `code`, and says so in `error`. */
#define FAILS(code, call) (memset(&error, 0, sizeof error), fails(__FILE__, __LINE__, #call, code, call))

void is_not_so(const char* file, int line, const char* condition);
void succeeds(const char* file, int line, const char* call, int code);
void fails(const char* file, int line, const char* call, int expected, int code);

/* -- batches of {id: int32, name: utf8, may be null} with ROWS rows, out of memory of the program */

enum { ROWS = 4, BATCHES = 3 };

void make_schema(struct ArrowSchema* out);
void make_batch(int number, struct ArrowArray* out);
/* Whether an array on the CPU has `n` rows of batch `number`, from row `first` on. */
int is_batch(const struct ArrowArray* array, int number, int first, int n);
/* Takes the array over, brings it to the CPU, compares it, releases it. */
void expect_batch(struct ArrowDeviceArray* taken, int number, int first, int n);
/* Batch `number` on a device, as a copy. */
void put_batch(int number, struct arrowdevice_device* device, struct ArrowDeviceArray* out);
/* Schemas and arrays, children too, that were made and not released yet. */
int live_structs(void);

/* -- the parts. `device` is of the plugin, `linked` of the backend in the program; `required_only`: of a plugin that
 * has nothing else */

void check_devices(struct arrowdevice_device* device, struct arrowdevice_device* cpu, int required_only);
void check_bytes(struct arrowdevice_device* device, struct arrowdevice_device* cpu, int required_only);
void check_arrays(struct arrowdevice_device* device, struct arrowdevice_device* linked);
void check_streams(struct arrowdevice_device* device, struct arrowdevice_device* linked);
void check_async(struct arrowdevice_device* device, struct arrowdevice_device* linked);

#endif /* FIRST_PROGRAM_H */
