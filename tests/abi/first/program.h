/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the parts of the program share. */
#ifndef FIRST_PROGRAM_H
#define FIRST_PROGRAM_H

#include <arrowdevice/arrowdevice.h>
#include <string.h>

/* The error of the call that is being checked. */
extern struct arrowdevice_error error;

/* Prints a condition that does not hold. The program fails in the end. */
#define CHECK(condition)                                         \
  do {                                                           \
    if (!(condition)) is_not_so(__FILE__, __LINE__, #condition); \
  } while (0)
/* Makes a call that must succeed. The program ends if it fails, because the next steps need its result. */
#define OK(call) (memset(&error, 0, sizeof error), succeeds(__FILE__, __LINE__, #call, call))
/* Makes a call that must fail with `code`, in `error` too. */
#define FAILS(code, call) (memset(&error, 0, sizeof error), fails(__FILE__, __LINE__, #call, code, call))

void is_not_so(const char* file, int line, const char* condition);
void succeeds(const char* file, int line, const char* call, int code);
void fails(const char* file, int line, const char* call, int expected, int code);

/* -- batches of {id: int32, name: utf8, nullable} with ROWS rows, in memory of the program */

enum { ROWS = 4, BATCHES = 3 };

void make_schema(struct ArrowSchema* out);
void make_batch(int number, struct ArrowArray* out);
/* Returns 1 if an array on the CPU has `n` rows of batch `number`, from row `first` on. */
int is_batch(const struct ArrowArray* array, int number, int first, int n);
/* Takes the array over, copies it to the CPU, compares it, and releases it. */
void expect_batch(struct ArrowDeviceArray* taken, int number, int first, int n);
/* Copies batch `number` to a device. */
void put_batch(int number, struct arrowdevice_device* device, struct ArrowDeviceArray* out);
/* Returns the number of schemas and arrays that are not released, including children. */
int live_structs(void);

/* -- the parts. `device` belongs to the plugin, `linked` to the backend in the program. `required_only`: the
 * plugin has only required functions */

void check_devices(struct arrowdevice_device* device, struct arrowdevice_device* cpu, int required_only);
void check_bytes(struct arrowdevice_device* device, struct arrowdevice_device* cpu, int required_only);
void check_arrays(struct arrowdevice_device* device, struct arrowdevice_device* linked);
void check_streams(struct arrowdevice_device* device, struct arrowdevice_device* linked);
void check_async(struct arrowdevice_device* device, struct arrowdevice_device* linked);

#endif /* FIRST_PROGRAM_H */
