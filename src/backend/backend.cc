// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace arrowdevice::backend {
namespace {

// Size of the table up to its last required function. A shorter table cannot be used.
constexpr uint32_t kRequiredSize =
    offsetof(arrowdevice_backend, event_destroy) + sizeof(arrowdevice_backend::event_destroy);
constexpr size_t kLongestName = sizeof(arrowdevice_device_info::backend) - 1;
constexpr int32_t kMostDeviceTypes = 64;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName &&
         std::ranges::all_of(text, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

void check_required(const arrowdevice_backend& table) {
  const std::pair<const char*, bool> required[] = {
      {"device_count", table.device_count != nullptr},       {"device_open", table.device_open != nullptr},
      {"device_get_info", table.device_get_info != nullptr}, {"buffer_allocate", table.buffer_allocate != nullptr},
      {"buffer_free", table.buffer_free != nullptr},         {"queue_create", table.queue_create != nullptr},
      {"queue_destroy", table.queue_destroy != nullptr},     {"queue_copy", table.queue_copy != nullptr},
      {"event_record", table.event_record != nullptr},       {"event_query", table.event_query != nullptr},
      {"event_wait", table.event_wait != nullptr},           {"queue_wait_event", table.queue_wait_event != nullptr},
      {"event_destroy", table.event_destroy != nullptr},
  };
  for (const auto& [function, there] : required) {
    if (!there) throw Error(EINVAL, format("the required function %s is missing", function));
  }
}

void check_pairs(const arrowdevice_backend& table) {
  struct Pair {
    const char *first, *second;
    bool has_first, has_second;
  };
  const Pair pairs[] = {
      {"sub_buffer_create", "sub_buffer_destroy", table.sub_buffer_create != nullptr,
       table.sub_buffer_destroy != nullptr},
      {"queue_wrap", "queue_get_native", table.queue_wrap != nullptr, table.queue_get_native != nullptr},
      {"device_wrap", "device_unwrap", table.device_wrap != nullptr, table.device_unwrap != nullptr},
      {"staging_allocate", "staging_free", table.staging_allocate != nullptr, table.staging_free != nullptr},
      {"shareable_allocate", "shareable_free", table.shareable_allocate != nullptr, table.shareable_free != nullptr},
      {"shareable_allocate", "memory_export", table.shareable_allocate != nullptr, table.memory_export != nullptr},
      {"memory_import", "memory_close", table.memory_import != nullptr, table.memory_close != nullptr},
  };
  for (const auto& pair : pairs) {
    if (pair.has_first != pair.has_second) {
      throw Error(EINVAL, format("%s and %s come together, but only %s is there", pair.first, pair.second,
                                 pair.has_first ? pair.first : pair.second));
    }
  }
}

}  // namespace

Backend::Backend(const arrowdevice_backend* table, std::string path) : path_(std::move(path)) {
  if (table == nullptr) throw Error(EINVAL, "the table is NULL");
  if (table->abi_version != ARROWDEVICE_BACKEND_ABI_VERSION) {
    throw Error(ENOTSUP, format("the table has version %u, this library speaks %u", table->abi_version,
                                unsigned{ARROWDEVICE_BACKEND_ABI_VERSION}));
  }
  if (table->struct_size < kRequiredSize) {
    throw Error(EINVAL, format("the table has %u bytes, its required functions alone take %u", table->struct_size,
                               kRequiredSize));
  }
  if (table->struct_size % alignof(arrowdevice_backend) != 0) {
    throw Error(EINVAL, format("the table has %u bytes, and ends within a function", table->struct_size));
  }
  std::memcpy(&table_, table, std::min<size_t>(table->struct_size, sizeof table_));
  table_.struct_size = sizeof table_;
  if (table_.name == nullptr || !is_name({table_.name, strnlen(table_.name, kLongestName + 1)})) {
    throw Error(EINVAL, "the name is not 1 to 15 of a-z, 0-9 and _");
  }
  name_ = table_.name;
  if (table_.device_types == nullptr || table_.n_device_types < 1 || table_.n_device_types > kMostDeviceTypes) {
    throw Error(EINVAL,
                format("the table names %d device types, not 1 to %d", table_.n_device_types, int{kMostDeviceTypes}));
  }
  device_types_.assign(table_.device_types, table_.device_types + table_.n_device_types);
  check_required(table_);
  check_pairs(table_);
}

bool Backend::serves(ArrowDeviceType type) const noexcept {
  return std::ranges::find(device_types_, type) != device_types_.end();
}

void Backend::throw_failure(const char* what, int code, const arrowdevice_error& error) const {
  const std::string_view said(error.message, strnlen(error.message, sizeof error.message));
  throw Error(code, said.empty() ? format("%s failed with errno %d", what, code) : std::string(said), name_,
              error.native_code);
}

void Backend::throw_missing(const char* what) const {
  throw Error(ENOTSUP, format("the backend has no %s", what), name_, 0);
}

}  // namespace arrowdevice::backend
