// SPDX-License-Identifier: Apache-2.0
#include "level_zero/handles.h"

#include <level_zero/ze_ddi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>

#include "machine/violation.h"
#include "sim/handle.h"

namespace standin::level_zero {
namespace {

// ze_dditable_driver_t as from 1.13: the tables of each kind of object. A table that is NULL has no
// functions.
struct CoreTables {
  uint32_t version;
  uint8_t is_valid;
  const void* rtas_builder;
  const void* rtas_builder_exp;
  const void* rtas_parallel_operation;
  const void* rtas_parallel_operation_exp;
  const void* global;
  const void* driver;
  const void* driver_exp;
  const void* device;
  const void* device_exp;
  const void* context;
  const void* command_queue;
  const void* command_list;
  const void* command_list_exp;
  const void* image;
  const void* image_exp;
  const void* mem;
  const void* mem_exp;
  const void* fence;
  const void* event_pool;
  const void* event;
  const void* others[32];
};

// The tables of tools, system management and runtime. They are marked invalid, so that loaders ignore them.
struct NoTables {
  uint32_t version;
  uint8_t is_valid;
  const void* others[64];
};

// ze_handle_t
struct Object {
  const CoreTables* core;
  const NoTables* tools;
  const NoTables* sysman;
  const NoTables* runtime;
};

// A table with NULL pointers behind its end, because a newer loader may read functions there that the
// headers lack.
template <typename T>
struct Table {
  T known{};
  void* unknown[64]{};
};

template <typename T>
const void* fill(ze_result_t (*get)(ze_api_version_t, T*)) {
  static auto* const table = new Table<T>;
  if (get(ZE_API_VERSION_CURRENT, &table->known) != ZE_RESULT_SUCCESS) violation("there is no table of entry points");
  return table;
}

CoreTables core_tables() {
  CoreTables tables{};
  tables.version = api_version();
  tables.is_valid = 1;
  tables.global = fill(zeGetGlobalProcAddrTable);
  tables.driver = fill(zeGetDriverProcAddrTable);
  tables.device = fill(zeGetDeviceProcAddrTable);
  tables.context = fill(zeGetContextProcAddrTable);
  tables.command_list = fill(zeGetCommandListProcAddrTable);
  tables.mem = fill(zeGetMemProcAddrTable);
  tables.event_pool = fill(zeGetEventPoolProcAddrTable);
  tables.event = fill(zeGetEventProcAddrTable);
  return tables;
}

// Returns a handle that is never freed, so that no address is reused.
void* new_readable_handle() {
  static auto* const core = new CoreTables(core_tables());
  static auto* const none = new NoTables{};
  static auto* const mutex = new std::mutex;
  static auto* const objects = new std::deque<Object>;
  const std::lock_guard lock(*mutex);
  return &objects->emplace_back(Object{core, none, none, none});
}

}  // namespace

uint32_t api_version() {
  const char* text = std::getenv("STANDIN_ZE_API_VERSION");
  unsigned major = 1;
  unsigned minor = 6;
  if (text != nullptr && std::sscanf(text, "%u.%u", &major, &minor) != 2) violation("STANDIN_ZE_API_VERSION=%s", text);
  return ZE_MAKE_VERSION(major, minor);
}

uint32_t driver_build() {
  constexpr uint32_t kOfDecember2024 = 32224;
  constexpr uint32_t kOfMay2023 = 26241;
  const char* const text = std::getenv("STANDIN_ZE_DRIVER_BUILD");
  if (text != nullptr) return static_cast<uint32_t>(std::atoi(text));
  return api_version() >= ZE_MAKE_VERSION(1, 6) ? kOfDecember2024 : kOfMay2023;
}

void* new_object_handle() {
  return api_version() >= kFirstWithTablesInHandles ? new_readable_handle() : arrowdevice::sim::new_handle();
}

}  // namespace standin::level_zero
