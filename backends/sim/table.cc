// SPDX-License-Identifier: Apache-2.0
#include "sim/table.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "sim/copy.h"
#include "sim/published.h"
#include "sim/simulation.h"

namespace arrowdevice::sim {
namespace {

constexpr ArrowDeviceType kDeviceTypes[] = {ARROW_DEVICE_EXT_DEV};

// Runs every call of the table: counts it, makes a planned failure happen, and records a refusal.
template <typename Body>
int call(Function function, arrowdevice_error* error, Body&& body) noexcept {
  return guarded(error, [&] {
    Simulation& sim = simulation();
    sim.failures.check(function);
    try {
      body(sim);
    } catch (const Error& e) {
      if (e.code() == EINVAL) sim.refusals.add(std::string(name_of(function)) + ": " + e.message());
      throw;
    }
  });
}

// Runs a function that cannot report a failure. An invalid call appears only in the statistics.
template <typename Body>
void call_void(Function function, Body&& body) noexcept {
  arrowdevice_error unseen;
  call(function, &unseen, body);
}

void check_type(ArrowDeviceType device_type) {
  if (device_type != ARROW_DEVICE_EXT_DEV) {
    throw Error(EINVAL, format("device type %d, where the simulated backend serves only %d", device_type,
                               ARROW_DEVICE_EXT_DEV));
  }
}

// Runs before each submission, which may lose the device.
void submit_to(Simulation& sim, Queue& queue) {
  if (sim.failures.due(Function::lost)) queue.device()->engine().lose();
}

// -- devices

int device_count(ArrowDeviceType device_type, int64_t* out, arrowdevice_error* error) noexcept {
  return call(Function::device_count, error, [&](Simulation& sim) {
    check_type(device_type);
    *out = sim.devices.count();
  });
}

int device_open(ArrowDeviceType device_type, int64_t id, void** device, arrowdevice_error* error) noexcept {
  return call(Function::device_open, error, [&](Simulation& sim) {
    check_type(device_type);
    *device = sim.devices.open(id).first;
  });
}

// Writes each member separately, because the library may be older or newer than this plugin and the struct may have
// grown.
int device_get_info(void* device, arrowdevice_device_info* out, arrowdevice_error* error) noexcept {
  return call(Function::device_get_info, error, [&](Simulation& sim) {
    const auto described = sim.devices.get(device);
    const Memory& memory = described->memory();
    copy_text(out->name, described->name());
    copy_text(out->vendor, "libarrowdevice");
    std::memcpy(out->uuid, "arrowdevice-sim", sizeof out->uuid);
    out->uuid[15] = static_cast<uint8_t>(described->id());
    out->total_memory = memory.capacity();
    out->buffer_alignment = memory.alignment();
    out->sub_buffer_alignment = memory.alignment();
    out->flags = (memory.addresses() ? ARROWDEVICE_DEVICE_ADDRESSES : 0u) |
                 (sim.has(Function::event_publish) ? ARROWDEVICE_DEVICE_EVENTS : 0u) |
                 (sim.has(Function::shareable_allocate) ? ARROWDEVICE_DEVICE_SHAREABLE : 0u) |
                 (described->context() != nullptr ? ARROWDEVICE_DEVICE_WRAPPED : 0u);
    out->staging_type = 0;
  });
}

int device_wrap(ArrowDeviceType device_type, int64_t id, const arrowdevice_native_device* native, void** device,
                arrowdevice_error* error) noexcept {
  return call(Function::device_wrap, error, [&](Simulation& sim) {
    check_type(device_type);
    if (native->device != nullptr && native->device != sim.devices.open(id).first) {
      throw Error(EINVAL, format("%p is not simulated device %lld", native->device, static_cast<long long>(id)));
    }
    *device = sim.devices.wrap(id, native->context);
  });
}

int device_unwrap(void* device, arrowdevice_error* error) noexcept {
  return call(Function::device_unwrap, error, [&](Simulation& sim) { sim.devices.unwrap(device); });
}

int device_get_native(void* device, arrowdevice_native_device* out, arrowdevice_error* error) noexcept {
  return call(Function::device_get_native, error, [&](Simulation& sim) {
    const auto native = sim.devices.get(device);
    out->device = sim.devices.open(native->id()).first;
    out->context = native->context() != nullptr ? native->context() : device;
  });
}

int device_get_peer_flags(void* from, void* to, uint32_t* out, arrowdevice_error* error) noexcept {
  return call(Function::device_get_peer_flags, error, [&](Simulation& sim) {
    const auto source = from != nullptr ? sim.devices.get(from) : nullptr;
    const auto target = to != nullptr ? sim.devices.get(to) : nullptr;
    const Peers peers = sim.devices.peers();
    if (source == target) {
      *out = ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;
    } else if (!source || !target) {
      *out = ARROWDEVICE_PEER_COPY;
    } else if (peers == Peers::kNone) {
      *out = 0;
    } else {
      const bool shared = peers == Peers::kAccess && source->memory().addresses() && target->memory().addresses();
      *out = ARROWDEVICE_PEER_COPY | (shared ? ARROWDEVICE_PEER_ACCESS : 0u);
    }
  });
}

int device_locate(ArrowDeviceType device_type, int64_t id, const void* buffer, void* sync_event, void** device,
                  arrowdevice_error* error) noexcept {
  return call(Function::device_locate, error, [&](Simulation& sim) {
    check_type(device_type);
    Devices::Entry found;
    if (buffer != nullptr) {
      found = sim.devices.owner(buffer);
      if (!found.second) throw Error(EINVAL, format("%p is not memory of a simulated device", buffer));
    } else if (sync_event != nullptr) {
      const auto recorded_on = published_event(sim, sync_event)->device();
      if (recorded_on) found = {sim.devices.handle_of(*recorded_on), recorded_on};
    }
    if (!found.second) found = sim.devices.open(id);
    if (found.second->id() != id) {
      throw Error(EINVAL, format("it belongs to %s, not to device %lld", found.second->name().c_str(),
                                 static_cast<long long>(id)));
    }
    *device = found.first;
  });
}

int device_get_memory_info(void* device, int64_t* free_bytes, int64_t* total_bytes, arrowdevice_error* error) noexcept {
  return call(Function::device_get_memory_info, error, [&](Simulation& sim) {
    const auto described = sim.devices.get(device);
    described->engine().check_not_lost();
    *total_bytes = described->memory().capacity();
    *free_bytes = *total_bytes - described->statistics().snapshot().bytes_live;
  });
}

// -- memory

int buffer_allocate(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                    arrowdevice_error* error) noexcept {
  return call(Function::buffer_allocate, error, [&](Simulation& sim) {
    const auto owner = sim.devices.get(device);
    if (queue != nullptr) sim.queues.get(queue);
    owner->engine().check_not_lost();
    *out = owner->memory().allocate(size, alignment);
  });
}

void buffer_free(void* device, void* queue, void* buffer) noexcept {
  call_void(Function::buffer_free, [&](Simulation& sim) {
    const auto owner = sim.devices.get(device);
    if (queue != nullptr) sim.queues.get(queue);
    owner->memory().deallocate(buffer, queue != nullptr);
  });
}

int shareable_allocate(void* device, void* queue, int64_t size, int64_t alignment, void** out,
                       arrowdevice_error* error) noexcept {
  return call(Function::shareable_allocate, error, [&](Simulation& sim) {
    const auto owner = sim.devices.get(device);
    if (queue != nullptr) sim.queues.get(queue);
    owner->engine().check_not_lost();
    *out = owner->memory().allocate_shareable(size, alignment);
  });
}

void shareable_free(void* device, void* queue, void* buffer) noexcept {
  call_void(Function::shareable_free, [&](Simulation& sim) {
    const auto owner = sim.devices.get(device);
    if (queue != nullptr) sim.queues.get(queue);
    owner->memory().deallocate_shareable(buffer, queue != nullptr);
  });
}

int memory_export(void* device, const void* buffer, arrowdevice_memory_record* out, arrowdevice_error* error) noexcept {
  return call(Function::memory_export, error,
              [&](Simulation& sim) { sim.devices.get(device)->memory().describe(buffer, *out); });
}

int memory_import(void* device, const arrowdevice_memory_record* record, void** buffer, int64_t* size,
                  arrowdevice_error* error) noexcept {
  return call(Function::memory_import, error, [&](Simulation& sim) {
    const auto owner = sim.devices.get(device);
    owner->engine().check_not_lost();
    *buffer = owner->memory().open(*record, *size);
  });
}

void memory_close(void* device, void* buffer) noexcept {
  call_void(Function::memory_close, [&](Simulation& sim) {
    const auto owner = sim.devices.get(device);
    // A lost device uses no memory, although its thread may not have dropped all work yet.
    owner->memory().close(buffer, owner->engine().is_lost());
  });
}

int sub_buffer_create(void* device, const void* buffer, int64_t offset, int64_t size, void** out,
                      arrowdevice_error* error) noexcept {
  return call(Function::sub_buffer_create, error, [&](Simulation& sim) {
    *out = sim.devices.get(device)->memory().sub_buffer_create(buffer, offset, size);
  });
}

void sub_buffer_destroy(void* device, void* sub) noexcept {
  call_void(Function::sub_buffer_destroy,
            [&](Simulation& sim) { sim.devices.get(device)->memory().sub_buffer_destroy(sub); });
}

int pointer_get_info(void* device, const void* buffer, arrowdevice_pointer_info* out,
                     arrowdevice_error* error) noexcept {
  return call(Function::pointer_get_info, error, [&](Simulation& sim) {
    static_cast<void>(sim.devices.get(device));  // refuses an invalid device
    const auto fill = [&](uint32_t flags, ArrowDeviceType type, int64_t id, void* base, int64_t size) {
      out->flags = flags;
      out->device_type = type;
      out->reserved = 0;
      out->device_id = id;
      out->base = base;
      out->size = size;
    };
    if (const auto owner = sim.devices.owner(buffer).second) {
      const auto allocation = owner->memory().find(buffer);
      fill(ARROWDEVICE_POINTER_KNOWN, ARROW_DEVICE_EXT_DEV, owner->id(), allocation ? allocation->base : nullptr,
           allocation ? allocation->size : -1);
    } else {
      fill(0, 0, -1, nullptr, -1);
    }
  });
}

// -- queues

int queue_create(void* device, void** queue, arrowdevice_error* error) noexcept {
  return call(Function::queue_create, error, [&](Simulation& sim) {
    auto owner = sim.devices.get(device);
    owner->engine().check_not_lost();
    *queue = sim.queues.add(std::make_shared<Queue>(std::move(owner)));
  });
}

int queue_wrap(void* device, const arrowdevice_native_queue* native, void** queue, arrowdevice_error* error) noexcept {
  return call(Function::queue_wrap, error, [&](Simulation& sim) {
    auto owner = sim.devices.get(device);
    owner->engine().check_not_lost();
    if (native->queue == nullptr) {
      auto submissions = owner->default_queue();
      *queue = sim.queues.add(std::make_shared<Queue>(std::move(owner), std::move(submissions)));
      return;
    }
    const auto wrapped = sim.queues.get(native->queue);
    if (wrapped->device() != owner) {
      throw Error(EINVAL, format("%p is a queue of %s, not of %s", native->queue, wrapped->device()->name().c_str(),
                                 owner->name().c_str()));
    }
    *queue = sim.queues.add(std::make_shared<Queue>(std::move(owner), wrapped, native->queue));
  });
}

int queue_get_native(void* queue, arrowdevice_native_queue* out, arrowdevice_error* error) noexcept {
  return call(Function::queue_get_native, error, [&](Simulation& sim) {
    out->queue = sim.queues.get(queue)->native(queue);
    out->family = 0;
  });
}

void queue_destroy(void* queue) noexcept {
  call_void(Function::queue_destroy, [&](Simulation& sim) { sim.queues.take(queue); });
}

int queue_copy(void* queue, const arrowdevice_backend_region* regions, int64_t n, arrowdevice_error* error) noexcept {
  return call(Function::queue_copy, error, [&](Simulation& sim) {
    const auto target = sim.queues.get(queue);
    if (n < 0) throw Error(EINVAL, format("%lld regions", static_cast<long long>(n)));
    submit_to(sim, *target);
    target->copy(check_copy(sim.devices, *target->device(), {regions, static_cast<size_t>(n)}));
  });
}

// -- events

int event_record(void* queue, void** event, arrowdevice_error* error) noexcept {
  return call(Function::event_record, error, [&](Simulation& sim) {
    const auto target = sim.queues.get(queue);
    submit_to(sim, *target);
    const bool doomed = sim.failures.due(Function::event).has_value();
    *event = sim.events.add(target->record(doomed));
  });
}

int event_query(void* event, int* ready, arrowdevice_error* error) noexcept {
  return call(Function::event_query, error,
              [&](Simulation& sim) { *ready = sim.events.get(event)->fence()->ready() ? 1 : 0; });
}

int event_wait(void* event, int64_t timeout_ns, arrowdevice_error* error) noexcept {
  return call(Function::event_wait, error, [&](Simulation& sim) {
    const auto waited = sim.events.get(event);
    if (waited->device()) waited->device()->statistics().update([](Counters& counters) { ++counters.host_waits; });
    waited->fence()->wait(timeout_ns);
  });
}

int queue_wait_event(void* queue, void* event, arrowdevice_error* error) noexcept {
  return call(Function::queue_wait_event, error, [&](Simulation& sim) {
    const auto target = sim.queues.get(queue);
    const auto waited = sim.events.get(event);
    submit_to(sim, *target);
    target->wait(*waited);
  });
}

int event_publish(void* event, void** sync_event, arrowdevice_error* error) noexcept {
  return call(Function::event_publish, error, [&](Simulation& sim) { *sync_event = publish_event(sim, event); });
}

int event_import(void* device, void* sync_event, void** event, arrowdevice_error* error) noexcept {
  return call(Function::event_import, error, [&](Simulation& sim) {
    auto importing = sim.devices.get(device);
    const auto foreign = published_event(sim, sync_event);
    importing->statistics().update([](Counters& counters) { ++counters.events_imported; });
    *event = sim.events.add(std::make_shared<Event>(std::move(importing), foreign->fence()));
  });
}

void event_destroy(void* event) noexcept {
  call_void(Function::event_destroy, [&](Simulation& sim) { sim.events.take(event); });
}

// -- the table

void remove(arrowdevice_backend& table, Function function) {
  switch (function) {
#define X(name, pair)     \
  case Function::name:    \
    table.name = nullptr; \
    table.pair = nullptr; \
    break;
    ARROWDEVICE_SIM_OPTIONAL_FUNCTIONS(X)
#undef X
    default: throw Error(EINVAL, "the backend table cannot be without " + std::string(name_of(function)));
  }
}

}  // namespace

arrowdevice_backend make_table(const std::vector<Function>& without) {
  arrowdevice_backend table{};
  table.struct_size = sizeof table;
  table.abi_version = ARROWDEVICE_BACKEND_ABI_VERSION;
  table.name = "sim";
  table.version = ARROWDEVICE_SIM_VERSION;
  table.device_types = kDeviceTypes;
  table.n_device_types = 1;
#define X(name, pair) table.name = name;
  ARROWDEVICE_SIM_REQUIRED_FUNCTIONS(X)
  ARROWDEVICE_SIM_OPTIONAL_FUNCTIONS(X)
#undef X
  for (const Function function : without) remove(table, function);
  if (table.shareable_allocate == nullptr || table.memory_export == nullptr) {  // three functions that come together
    table.shareable_allocate = nullptr;
    table.shareable_free = nullptr;
    table.memory_export = nullptr;
  }
  return table;
}

}  // namespace arrowdevice::sim
