/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: find, query, wrap. */
#include <errno.h>

#include "program.h"

/* Checks that the library fills structs of a newer program up to its own size. No struct is older than the first. */
static void check_sizes(struct arrowdevice_device* device) {
  struct {
    struct arrowdevice_device_info known;
    unsigned char more[64];
  } later;
  memset(&later, 0x5c, sizeof later);
  later.known.struct_size = sizeof later;
  OK(arrowdevice_device_get_info(device, &later.known, &error));
  CHECK(later.known.struct_size == sizeof later);
  CHECK(later.known.buffer_alignment == 64);
  CHECK(later.more[63] == 0);

  struct arrowdevice_device_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info - 8;
  FAILS(EINVAL, arrowdevice_device_get_info(device, &info, &error));
}

static void check_described(struct arrowdevice_device* device) {
  struct arrowdevice_device_info info = {.struct_size = sizeof info};
  OK(arrowdevice_device_get_info(device, &info, &error));
  CHECK(info.struct_size == sizeof info);
  CHECK(info.device_type == ARROW_DEVICE_EXT_DEV);
  CHECK(info.device_id == 0);
  CHECK(strcmp(info.name, "first 0") == 0);
  CHECK(strcmp(info.vendor, "the first release") == 0);
  CHECK(info.total_memory == 1 << 30);
  CHECK(info.buffer_alignment == 64);
  CHECK(info.sub_buffer_alignment == 64);
  CHECK(info.numa_node == -1);
  CHECK(info.flags == ARROWDEVICE_DEVICE_ADDRESSES);
  CHECK(info.staging_type == 0);
}

static void check_found(struct arrowdevice_device* device, struct arrowdevice_device* cpu) {
  struct arrowdevice_device* same;
  OK(arrowdevice_device_find_by_id(ARROW_DEVICE_EXT_DEV, 0, &same, &error));
  CHECK(same == device);
  OK(arrowdevice_device_find_by_id(ARROW_DEVICE_CPU, -1, &same, &error));
  CHECK(same == cpu);
  FAILS(ENOTSUP, arrowdevice_device_find_by_id(99, 0, &same, &error));
  CHECK(same == NULL);
  FAILS(ENODEV, arrowdevice_device_find_by_id(ARROW_DEVICE_EXT_DEV, 1, &same, &error));
  FAILS(EINVAL, arrowdevice_device_find_by_name("no device", &same, &error));

  int64_t count = -1;
  OK(arrowdevice_device_count(ARROW_DEVICE_EXT_DEV, &count, &error));
  CHECK(count == 1);
  struct arrowdevice_device* all[64];
  OK(arrowdevice_device_list(all, 64, &count, &error));
  int found = 0;
  for (int64_t i = 0; i < count && i < 64; ++i) found += all[i] == device || all[i] == cpu;
  CHECK(found == 2);

  CHECK(strcmp(arrowdevice_device_type_get_name(ARROW_DEVICE_EXT_DEV), "ext_dev") == 0);
  CHECK(arrowdevice_device_type_get_name(99) == NULL);
  uint32_t reach = 0;
  OK(arrowdevice_device_get_peer_flags(device, device, &reach, &error));
  CHECK(reach == (ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY));
  OK(arrowdevice_device_get_peer_flags(cpu, device, &reach, &error));
  CHECK(reach == ARROWDEVICE_PEER_COPY);
}

/* -- an application's own context */

static int locked, unlocked;

static void lock(void* user, void* native_queue) { locked += (int*)user - (int*)native_queue == 3; }
static void unlock(void* user, void* native_queue) { unlocked += (int*)user - (int*)native_queue == 3; }

static void check_wrapped(void) {
  static int handles[8];
  static const char* const extensions[] = {"one", "two"};
  const struct arrowdevice_native_device native = {.struct_size = sizeof native,
                                                   .queue_family = 3,
                                                   .api_version = 5,
                                                   .n_extensions = 2,
                                                   .platform = &handles[0],
                                                   .physical_device = &handles[1],
                                                   .device = &handles[2],
                                                   .context = &handles[3],
                                                   .queue = &handles[4],
                                                   .get_proc_addr = &handles[5],
                                                   .extensions = extensions,
                                                   .features = &handles[6],
                                                   .lock = lock,
                                                   .unlock = unlock,
                                                   .lock_user = &handles[7]};
  struct arrowdevice_device *own, *again;
  OK(arrowdevice_device_wrap(ARROW_DEVICE_EXT_DEV, 0, &native, &own, &error));
  OK(arrowdevice_device_wrap(ARROW_DEVICE_EXT_DEV, 0, &native, &again, &error));
  CHECK(again == own);
  CHECK(locked > 0 && unlocked == locked);
  struct arrowdevice_device_info info = {.struct_size = sizeof info};
  OK(arrowdevice_device_get_info(own, &info, &error));
  CHECK(info.flags == (ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_WRAPPED));

  struct arrowdevice_native_device out = {.struct_size = sizeof out};
  OK(arrowdevice_device_get_native(own, &out, &error));
  CHECK(out.struct_size == sizeof out);
  CHECK(out.queue_family == 3 && out.api_version == 5 && out.n_extensions == 2 && out.extensions == extensions);
  CHECK(out.platform == &handles[0] && out.get_proc_addr == &handles[5] && out.features == &handles[6]);
  CHECK(out.lock == lock && out.unlock == unlock && out.lock_user == &handles[7]);

  OK(arrowdevice_device_unwrap(again, ARROWDEVICE_POLL, &error));
  struct arrowdevice_queue* queue;
  OK(arrowdevice_queue_create(own, &queue, &error));
  FAILS(EBUSY, arrowdevice_device_unwrap(own, ARROWDEVICE_NO_TIMEOUT, &error));
  arrowdevice_queue_destroy(queue);
  OK(arrowdevice_device_unwrap(own, ARROWDEVICE_NO_TIMEOUT, &error));
  FAILS(ENODEV, arrowdevice_device_get_info(own, &info, &error));
}

static void check_optional(struct arrowdevice_device* device) {
  int64_t free_bytes = 0, total_bytes = 0;
  OK(arrowdevice_device_get_memory_info(device, &free_bytes, &total_bytes, &error));
  CHECK(free_bytes == 1 << 29);
  CHECK(total_bytes == 1 << 30);
  struct arrowdevice_native_device native = {.struct_size = sizeof native};
  OK(arrowdevice_device_get_native(device, &native, &error));
  CHECK(native.platform == NULL && native.lock == NULL);
  FAILS(EINVAL, arrowdevice_device_unwrap(device, ARROWDEVICE_POLL, &error));
  check_wrapped();
}

static void check_without_optional(struct arrowdevice_device* device) {
  int64_t free_bytes = 0;
  OK(arrowdevice_device_get_memory_info(device, &free_bytes, NULL, &error));
  CHECK(free_bytes == -1);
  struct arrowdevice_device* own;
  struct arrowdevice_native_device native = {.struct_size = sizeof native};
  FAILS(ENOTSUP, arrowdevice_device_get_native(device, &native, &error));
  FAILS(ENOTSUP, arrowdevice_device_wrap(ARROW_DEVICE_EXT_DEV, 0, &native, &own, &error));
  FAILS(ENOTSUP, arrowdevice_device_unwrap(device, ARROWDEVICE_POLL, &error));
  CHECK(strcmp(error.backend, "required") == 0);
}

void check_devices(struct arrowdevice_device* device, struct arrowdevice_device* cpu, int required_only) {
  check_described(device);
  check_sizes(device);
  check_found(device, cpu);
  if (required_only) {
    check_without_optional(device);
  } else {
    check_optional(device);
  }
}
