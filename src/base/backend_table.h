// SPDX-License-Identifier: Apache-2.0
// Makes a backend's table of C functions from a class of C++ functions.
#pragma once

#include <arrowdevice/backend.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>

#include "base/error.h"

namespace arrowdevice {

// The table's functions for devices of one type. `Devices::instance()` is the list of these devices.
template <typename Devices, typename OneDevice>
struct ListedDevices {
  using Device = OneDevice;

  static int64_t device_count(ArrowDeviceType) { return Devices::instance().count(); }
  static Device& device_open(ArrowDeviceType, int64_t id) { return Devices::instance().open(id); }
  static Device& device_wrap(ArrowDeviceType, int64_t id, const arrowdevice_native_device& native) {
    return Devices::instance().wrap(id, native);
  }
  static void device_unwrap(Device& device) { Devices::instance().unwrap(device); }
};

// `F` has the types Device, Queue and Event, whose addresses are the handles of the table. Its static functions have
// the names of the table's members. They take references, return their results and throw errors. Those without a
// result value in backend.h (the *_free, *_destroy and *_unregister functions) must not throw.
//
// F may leave out the optional functions of the table. Without queue_destroy or event_destroy, the table deletes the
// object. If F has `kDeviceType`, the table refuses other types with the name `kDisplayName`. If F has
// `bool has_failed(Event&, const Error&)`, a query or wait fails with EIO only if this returns true, and otherwise with
// EBUSY, because the driver could not tell if the work has ended.
template <typename F>
class BackendTable {
 public:
  // `name` and `types` must stay valid as long as the table is in use.
  static arrowdevice_backend make(const char* name, const char* version, std::span<const ArrowDeviceType> types) {
    arrowdevice_backend table{};
    table.struct_size = sizeof table;
    table.abi_version = ARROWDEVICE_BACKEND_ABI_VERSION;
    table.name = name;
    table.version = version;
    table.device_types = types.data();
    table.n_device_types = static_cast<int32_t>(types.size());
    add_devices(table);
    add_memory(table);
    add_queues(table);
    add_events(table);
    return table;
  }

 private:
  using Device = typename F::Device;
  using Queue = typename F::Queue;
  using Event = typename F::Event;

  static Device& device_of(void* handle) noexcept { return *static_cast<Device*>(handle); }
  static Queue& queue_of(void* handle) noexcept { return *static_cast<Queue*>(handle); }
  static Event& event_of(void* handle) noexcept { return *static_cast<Event*>(handle); }

  template <typename T>
  static void* handle_of(T* object) noexcept {
    return object;
  }
  template <typename T>
  static void* handle_of(std::unique_ptr<T> object) noexcept {
    return object.release();
  }

  static void check_type(ArrowDeviceType type) {
    if constexpr (requires { F::kDeviceType; }) {
      if (type != F::kDeviceType) {
        throw Error(EINVAL,
                    format("device type %d, but the %s backend serves only %d", type, F::kDisplayName, F::kDeviceType));
      }
    }
  }

  // Asks the driver for the state of an event's work.
  template <typename Body>
  static int ask(Event& event, arrowdevice_error* error, const Body& body) noexcept {
    return guarded(error, [&] {
      if constexpr (requires { F::has_failed; }) {
        try {
          body();
        } catch (const Error& e) {
          if (e.code() != EIO || F::has_failed(event, e)) throw;
          throw Error(EBUSY, e.message() + "; it is not known if the work has ended", e.backend(), e.native_code());
        }
      } else {
        body();
      }
    });
  }

  static void add_devices(arrowdevice_backend& table) noexcept {
    table.device_count = [](ArrowDeviceType type, int64_t* out, arrowdevice_error* error) noexcept {
      return guarded(error, [&] {
        check_type(type);
        *out = F::device_count(type);
      });
    };
    table.device_open = [](ArrowDeviceType type, int64_t id, void** device, arrowdevice_error* error) noexcept {
      return guarded(error, [&] {
        check_type(type);
        *device = &F::device_open(type, id);
      });
    };
    table.device_get_info = [](void* device, arrowdevice_device_info* out, arrowdevice_error* error) noexcept {
      return guarded(error, [&] { F::device_get_info(device_of(device), *out); });
    };
    if constexpr (requires { F::device_get_memory_info; }) {
      table.device_get_memory_info = [](void* device, int64_t* free, int64_t* total,
                                        arrowdevice_error* error) noexcept {
        return guarded(error, [&] { F::device_get_memory_info(device_of(device), *free, *total); });
      };
    }
    if constexpr (requires { F::device_wrap; }) {
      table.device_wrap = [](ArrowDeviceType type, int64_t id, const arrowdevice_native_device* native, void** device,
                             arrowdevice_error* error) noexcept {
        return guarded(error, [&] {
          check_type(type);
          *device = &F::device_wrap(type, id, *native);
        });
      };
      table.device_unwrap = [](void* device, arrowdevice_error* error) noexcept {
        return guarded(error, [&] { F::device_unwrap(device_of(device)); });
      };
    }
    if constexpr (requires { F::device_get_native; }) {
      table.device_get_native = [](void* device, arrowdevice_native_device* out, arrowdevice_error* error) noexcept {
        return guarded(error, [&] { F::device_get_native(device_of(device), *out); });
      };
    }
    if constexpr (requires { F::device_get_peer_flags; }) {
      table.device_get_peer_flags = [](void* from, void* to, uint32_t* out, arrowdevice_error* error) noexcept {
        return guarded(error,
                       [&] { *out = F::device_get_peer_flags(static_cast<Device*>(from), static_cast<Device*>(to)); });
      };
    }
    if constexpr (requires { F::device_locate; }) {
      table.device_locate = [](ArrowDeviceType type, int64_t id, const void* buffer, void* sync_event, void** device,
                               arrowdevice_error* error) noexcept {
        return guarded(error, [&] {
          check_type(type);
          *device = &F::device_locate(type, id, buffer, sync_event);
        });
      };
    }
  }

  static void add_memory(arrowdevice_backend& table) noexcept {
    if constexpr (requires { F::device_trim; }) {
      table.device_trim = [](void* device) noexcept { F::device_trim(device_of(device)); };
    }
    table.buffer_allocate = [](void* device, void* queue, int64_t size, int64_t alignment, void** out,
                               arrowdevice_error* error) noexcept {
      return guarded(
          error, [&] { *out = F::buffer_allocate(device_of(device), static_cast<Queue*>(queue), size, alignment); });
    };
    table.buffer_free = [](void* device, void* queue, void* buffer) noexcept {
      F::buffer_free(device_of(device), static_cast<Queue*>(queue), buffer);
    };
    if constexpr (requires { F::sub_buffer_create; }) {
      table.sub_buffer_create = [](void* device, const void* buffer, int64_t offset, int64_t size, void** out,
                                   arrowdevice_error* error) noexcept {
        return guarded(error, [&] { *out = F::sub_buffer_create(device_of(device), buffer, offset, size); });
      };
      table.sub_buffer_destroy = [](void* device, void* sub) noexcept {
        F::sub_buffer_destroy(device_of(device), sub);
      };
    }
    if constexpr (requires { F::staging_allocate; }) {
      table.staging_allocate = [](void* device, int64_t size, void** out, arrowdevice_error* error) noexcept {
        return guarded(error, [&] { *out = F::staging_allocate(device_of(device), size); });
      };
      table.staging_free = [](void* device, void* memory) noexcept { F::staging_free(device_of(device), memory); };
    }
    if constexpr (requires { F::shareable_allocate; }) {
      table.shareable_allocate = [](void* device, void* queue, int64_t size, int64_t alignment, void** out,
                                    arrowdevice_error* error) noexcept {
        return guarded(error, [&] {
          *out = F::shareable_allocate(device_of(device), static_cast<Queue*>(queue), size, alignment);
        });
      };
      table.shareable_free = [](void* device, void* queue, void* buffer) noexcept {
        F::shareable_free(device_of(device), static_cast<Queue*>(queue), buffer);
      };
      table.memory_export = [](void* device, const void* buffer, arrowdevice_memory_record* out,
                               arrowdevice_error* error) noexcept {
        return guarded(error, [&] { F::memory_export(device_of(device), buffer, *out); });
      };
      table.memory_import = [](void* device, const arrowdevice_memory_record* record, void** buffer, int64_t* size,
                               arrowdevice_error* error) noexcept {
        return guarded(error, [&] { *buffer = F::memory_import(device_of(device), *record, *size); });
      };
      table.memory_close = [](void* device, void* buffer) noexcept { F::memory_close(device_of(device), buffer); };
    }
    if constexpr (requires { F::pointer_get_info; }) {
      table.pointer_get_info = [](void* device, const void* buffer, arrowdevice_pointer_info* out,
                                  arrowdevice_error* error) noexcept {
        return guarded(error, [&] { F::pointer_get_info(device_of(device), buffer, *out); });
      };
    }
  }

  static void add_queues(arrowdevice_backend& table) noexcept {
    table.queue_create = [](void* device, void** queue, arrowdevice_error* error) noexcept {
      return guarded(error, [&] { *queue = handle_of(F::queue_create(device_of(device))); });
    };
    table.queue_destroy = [](void* queue) noexcept {
      if constexpr (requires { F::queue_destroy; }) {
        F::queue_destroy(queue_of(queue));
      } else {
        delete &queue_of(queue);
      }
    };
    table.queue_copy = [](void* queue, const arrowdevice_backend_region* regions, int64_t n,
                          arrowdevice_error* error) noexcept {
      return guarded(error, [&] {
        if (n < 0) throw Error(EINVAL, format("%lld regions", static_cast<long long>(n)));
        F::queue_copy(queue_of(queue), {regions, static_cast<size_t>(n)});
      });
    };
    table.queue_wait_event = [](void* queue, void* event, arrowdevice_error* error) noexcept {
      return guarded(error, [&] { F::queue_wait_event(queue_of(queue), event_of(event)); });
    };
    if constexpr (requires { F::queue_wrap; }) {
      table.queue_wrap = [](void* device, const arrowdevice_native_queue* native, void** queue,
                            arrowdevice_error* error) noexcept {
        return guarded(error, [&] { *queue = handle_of(F::queue_wrap(device_of(device), *native)); });
      };
      table.queue_get_native = [](void* queue, arrowdevice_native_queue* out, arrowdevice_error* error) noexcept {
        return guarded(error, [&] { F::queue_get_native(queue_of(queue), *out); });
      };
    }
  }

  static void add_events(arrowdevice_backend& table) noexcept {
    table.event_record = [](void* queue, void** event, arrowdevice_error* error) noexcept {
      return guarded(error, [&] { *event = handle_of(F::event_record(queue_of(queue))); });
    };
    table.event_query = [](void* event, int* ready, arrowdevice_error* error) noexcept {
      return ask(event_of(event), error, [&] { *ready = F::event_query(event_of(event)) ? 1 : 0; });
    };
    table.event_wait = [](void* event, int64_t timeout_ns, arrowdevice_error* error) noexcept {
      return ask(event_of(event), error, [&] { F::event_wait(event_of(event), timeout_ns); });
    };
    table.event_destroy = [](void* event) noexcept {
      if constexpr (requires { F::event_destroy; }) {
        F::event_destroy(event_of(event));
      } else {
        delete &event_of(event);
      }
    };
    if constexpr (requires { F::device_record_event; }) {
      table.device_record_event = [](void* device, void** event, arrowdevice_error* error) noexcept {
        return guarded(error, [&] { *event = handle_of(F::device_record_event(device_of(device))); });
      };
    }
    if constexpr (requires { F::event_publish; }) {
      table.event_publish = [](void* event, void** sync_event, arrowdevice_error* error) noexcept {
        return guarded(error, [&] { *sync_event = F::event_publish(event_of(event)); });
      };
    }
    if constexpr (requires { F::event_import; }) {
      table.event_import = [](void* device, void* sync_event, void** event, arrowdevice_error* error) noexcept {
        return guarded(error, [&] { *event = handle_of(F::event_import(device_of(device), sync_event)); });
      };
    }
  }
};

}  // namespace arrowdevice
