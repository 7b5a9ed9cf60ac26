// SPDX-License-Identifier: Apache-2.0
#include "level_zero/queue.h"

#include <cerrno>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/log.h"
#include "level_zero/api.h"

namespace arrowdevice::level_zero {
namespace {

ze_result_t create_list(const Device& device, ListKind kind, ze_command_list_handle_t* out) {
  auto& physical = device.physical();
  const OffloadCopiesDesc offload{.stype = kOffloadCopiesDesc, .next = nullptr, .is_enabled = 1};
  ze_command_queue_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  description.ordinal = physical.properties().queue_group.ordinal;
  description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  if (kind != ListKind::kUnordered) description.flags |= kInOrderFlag;
  if (kind == ListKind::kOffloading && physical.offload_form() == OffloadForm::kFlag) {
    description.flags |= kOffloadCopiesFlag;
  } else if (kind == ListKind::kOffloading) {
    description.pNext = &offload;
  }
  return api().zeCommandListCreateImmediate(device.context().native(), physical.native(), &description, out);
}

// Returns true for the codes of a layer that does not know a flag or a struct.
bool is_refusal(ze_result_t result) {
  return result == ZE_RESULT_ERROR_INVALID_ENUMERATION || result == ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

// Creates the best kind of list, or the next one if that is refused. Returns the kind.
ListKind create_best_list(const Device& device, ze_command_list_handle_t* out) {
  auto& physical = device.physical();
  const ListKind best = physical.best_list();
  return physical.use([&] {
    ListKind kind = best;
    ze_result_t result = create_list(device, kind, out);
    while (is_refusal(result) && kind != ListKind::kUnordered) {
      kind = kind == ListKind::kOffloading ? ListKind::kInOrder : ListKind::kUnordered;
      result = create_list(device, kind, out);
    }
    check("zeCommandListCreateImmediate", result);
    if (kind != best) physical.set_best_list(kind);
    return kind;
  });
}

// Does not build a string, because the host may be out of memory.
void report_loss(const char* what, const std::exception& reason) noexcept {
  log(LogLevel::kWarning, what);
  log(LogLevel::kWarning, reason.what());
}

// A copy for the driver.
struct Piece {
  void* to;
  const void* from;
  size_t size;
};

// Checks one end of the regions. Consecutive regions often lie in one allocation.
class Ends {
 public:
  explicit Ends(const Device& queue_device) : context_(queue_device.context()) {}

  void check(void* device_handle, const void* address, size_t size) {
    if (device_handle == nullptr) return;  // host memory
    auto& device = *static_cast<Device*>(device_handle);
    if (&device.context() != &context_) {
      throw Error(EINVAL, format("the memory at %p is of another context than the queue", address));
    }
    if (last_ && last_->has(address, size)) return;
    const auto found = device.physical().use([&] { return find_allocation(context_.native(), address); });
    if (!found) {
      if (device.properties().reaches_system_memory) return;
      throw Error(EINVAL,
                  format("the memory at %p is not known to the context of %s: to use memory of another context, wrap "
                         "that context",
                         address, device.properties().name.c_str()));
    }
    if (!found->has(address, size)) {
      throw Error(EINVAL, format("%zu bytes at %p reach out of an allocation of %zu bytes at %p", size, address,
                                 found->size, found->base));
    }
    last_ = *found;
  }

 private:
  const Context& context_;
  std::optional<Allocation> last_;
};

// Throws EINVAL for device memory that the context does not know, or that is too small for the region. Otherwise a
// driver would treat the address as host memory.
std::vector<Piece> check_pieces(const Device& device, std::span<const arrowdevice_backend_region> regions) {
  std::vector<Piece> pieces;
  pieces.reserve(regions.size());
  Ends targets(device);
  Ends sources(device);
  for (const auto& region : regions) {
    const Piece piece{.to = static_cast<char*>(region.dst) + region.dst_offset,
                      .from = static_cast<const char*>(region.src) + region.src_offset,
                      .size = static_cast<size_t>(region.size)};
    try {
      targets.check(region.dst_device, piece.to, piece.size);
      sources.check(region.src_device, piece.from, piece.size);
    } catch (const Error& error) {
      // A message of the driver begins with the name of its function.
      if (error.code() != EINVAL || error.native_code() != 0) throw;
      const auto number = static_cast<long long>(pieces.size());
      throw Error(error.code(), format("region %lld: %s", number, error.what()), error.backend(), error.native_code());
    }
    pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace

Queue::Queue(Device& device)
    : device_(device),
      is_borrowed_(false),
      is_shared_(false),
      is_in_order_(create_best_list(device, &list_) != ListKind::kUnordered) {}

// Older drivers do not report if the list is in order.
Queue::Queue(Device& device, ze_command_list_handle_t borrowed)
    : device_(device), list_(borrowed), is_borrowed_(true), is_shared_(true) {
  if (borrowed == nullptr) throw Error(EINVAL, "Level Zero has no default queue: name an immediate command list");
}

// A list must not be destroyed before its work has finished.
Queue::~Queue() {
  auto& physical = device_.physical();
  if (is_borrowed_ || physical.is_lost()) return;
  // Tries a second time, because a short failure of the driver must not leak a list.
  constexpr int kAttempts = 2;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    try {
      if (has_new_work_ || is_shared()) last_ = append_point(nullptr);
      if (last_ != nullptr && !last_->is_passed()) {
        last_->destroy_afterwards(list_);
      } else {
        physical.give_back("zeCommandListDestroy", api().zeCommandListDestroy(list_));
      }
      return;
    } catch (const std::exception& e) {
      if (physical.is_lost()) return;
      if (attempt + 1 == kAttempts)
        report_loss("a command list is lost, because it is not known when its work ends:", e);
    }
  }
}

// Appends a point after `awaited`, or after all work appended so far if `awaited` is NULL.
std::shared_ptr<CompletionPoint> Queue::append_point(const std::shared_ptr<CompletionPoint>& awaited) {
  device_.context().unfinished().sweep();
  auto point = CompletionPoint::make(device_);
  auto* waits_for = awaited != nullptr ? awaited->native() : nullptr;
  device_.physical().use([&] {
    check("zeCommandListAppendBarrier",
          api().zeCommandListAppendBarrier(list_, point->native(), waits_for != nullptr ? 1 : 0,
                                           waits_for != nullptr ? &waits_for : nullptr));
  });
  point->set_appended();
  if (awaited != nullptr) point->keep(awaited);
  return point;
}

void Queue::append_barrier() {
  device_.physical().use(
      [&] { check("zeCommandListAppendBarrier", api().zeCommandListAppendBarrier(list_, nullptr, 0, nullptr)); });
  may_overtake_ = false;
}

void Queue::copy(std::span<const arrowdevice_backend_region> regions) {
  const std::vector<Piece> pieces = check_pieces(device_, regions);
  if (!is_in_order_ && (may_overtake_ || is_shared())) append_barrier();
  has_new_work_ = true;
  may_overtake_ = true;
  device_.physical().use([&] {
    for (const Piece& piece : pieces) {
      check("zeCommandListAppendMemoryCopy",
            api().zeCommandListAppendMemoryCopy(list_, piece.to, piece.from, piece.size, nullptr, 0, nullptr));
    }
  });
  // Commands that the application appends next must not overtake the copies.
  if (!is_in_order_ && is_shared()) append_barrier();
}

std::unique_ptr<Event> Queue::record() {
  last_ = append_point(nullptr);
  has_new_work_ = false;
  may_overtake_ = false;
  return std::make_unique<QueueEvent>(last_);
}

void Queue::wait_for(Event& event) {
  const auto point = event.point();
  // A list can wait only for events of its own context.
  if (point == nullptr || &point->device().context() != &device_.context()) return event.wait(ARROWDEVICE_NO_TIMEOUT);
  if (point->is_passed()) return;
  has_new_work_ = true;
  // The new point releases the awaited event when the list has passed it. No other object refers to the new point.
  append_point(point);
}

void Queue::free_behind(void* memory) noexcept {
  if (device_.physical().is_lost()) return;
  constexpr int kAttempts = 2;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    try {
      has_new_work_ = true;
      append_point(nullptr)->free_afterwards(memory);
      return;
    } catch (const std::exception& e) {
      if (attempt + 1 == kAttempts) report_loss("memory is lost, because it is not known when its use ends:", e);
    }
  }
}

}  // namespace arrowdevice::level_zero
