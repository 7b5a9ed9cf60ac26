/* SPDX-License-Identifier: Apache-2.0 */
/* A program of the first release: first-program DEVICE [PLUGIN]. It calls every function that the library had
 * then, and compares the results with the guarantees of that header. DEVICE is a device of plugin.c. PLUGIN
 * is the file of that plugin; without it the library finds the plugin in ARROWDEVICE_BACKEND_PATH. */
#define _POSIX_C_SOURCE 200809L
#include "program.h"

#include <arrowdevice/backend.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* plugin.c is also linked into the program, under another name and for another device type. */
const struct arrowdevice_backend* arrowdevice_backend_entry(uint32_t host_abi, struct arrowdevice_error* out);

struct arrowdevice_error error;
static int failures;
static int logged;

void is_not_so(const char* file, int line, const char* condition) {
  ++failures;
  fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
}

void succeeds(const char* file, int line, const char* call, int code) {
  if (code == 0) {
    if (error.code != 0) is_not_so(file, line, "error is untouched on success");
    return;
  }
  fprintf(stderr, "%s:%d: %s\n  failed with %d (%s): %s\n", file, line, call, code, strerror(code), error.message);
  exit(1);
}

void fails(const char* file, int line, const char* call, int expected, int code) {
  if (code == expected && error.code == expected && error.message[0] != '\0') return;
  ++failures;
  fprintf(stderr, "%s:%d: %s\n  gave %d and error %d \"%s\", not %d (%s)\n", file, line, call, code, error.code,
          error.message, expected, strerror(expected));
}

static void note_log(void* user, int level, const char* message) {
  if (user == &logged && level >= 0 && level <= 3 && message != NULL) ++logged;
}

static int never(void* user) { return user != NULL; }

/* Checks the reports of the backends: the plugin and the linked backend are loaded. */
static void check_reports(const char* plugin) {
  int loaded = 0, linked = 0, code = 0;
  for (int64_t i = 0; code == 0; ++i) {
    struct arrowdevice_backend_report report = {.struct_size = sizeof report};
    code = arrowdevice_backend_get_report(i, &report, &error);
    if (code != 0 || report.status != 0) continue;
    loaded += strcmp(report.name, plugin) == 0 && report.path[0] == '/';
    linked += strcmp(report.name, "linked") == 0 && report.path[0] == '\0';
  }
  CHECK(code == ENOENT);
  CHECK(loaded == 1);
  CHECK(linked == 1);
  FAILS(EINVAL, arrowdevice_backend_load("libarrowdevice-relative.so", &error));
  FAILS(ENOENT, arrowdevice_backend_load("/nowhere/libarrowdevice-nowhere.so", &error));
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: first-program DEVICE [PLUGIN]\n");
    return 2;
  }
  CHECK(arrowdevice_version() != NULL && arrowdevice_version()[0] != '\0');
  arrowdevice_log_set_handler(note_log, &logged);
  arrowdevice_interrupt_set_check(never, NULL);
  OK(arrowdevice_deferred_set_manual(1, &error));

  const struct arrowdevice_backend* table = arrowdevice_backend_entry(ARROWDEVICE_BACKEND_ABI_VERSION, &error);
  OK(arrowdevice_backend_register(table, &error));
  FAILS(EEXIST, arrowdevice_backend_register(table, &error));
  if (argc > 2) OK(arrowdevice_backend_load(argv[2], &error));

  struct arrowdevice_device *device, *cpu, *linked;
  OK(arrowdevice_device_find_by_name(argv[1], &device, &error));
  OK(arrowdevice_device_find_by_name("cpu", &cpu, &error));
  OK(arrowdevice_device_find_by_name("webgpu:0", &linked, &error));
  struct arrowdevice_device_info info = {.struct_size = sizeof info};
  OK(arrowdevice_device_get_info(device, &info, &error));

  const int required_only = strcmp(info.backend, "required") == 0;
  check_devices(device, cpu, required_only);
  check_reports(info.backend);
  check_bytes(device, cpu, required_only);
  check_arrays(device, linked);
  check_streams(device, linked);
  check_async(device, linked);

  int64_t done = -1;
  OK(arrowdevice_deferred_run(-1, &done, &error));
  CHECK(done >= 0);
  OK(arrowdevice_wait_idle(ARROWDEVICE_NO_TIMEOUT, &error));
  /* A thread of a stream may release its last array a little later. */
  const time_t begin = time(NULL);
  while (live_structs() != 0 && time(NULL) - begin < 60) sched_yield();
  CHECK(live_structs() == 0);
  CHECK(logged > 0);
  arrowdevice_log_set_handler(NULL, NULL);
  arrowdevice_interrupt_set_check(NULL, NULL);
  if (failures > 0) fprintf(stderr, "%d things are not as the first release had them\n", failures);
  return failures > 0 ? 1 : 0;
}
