// SPDX-License-Identifier: Apache-2.0
#include "interop/export.h"

#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "array/locate.h"
#include "array/shared_array.h"
#include "backend/device_types.h"
#include "base/checked.h"
#include "base/log.h"
#include "base/scratch.h"
#include "inspect/data_reader.h"
#include "interop/dtype.h"

namespace arrowdevice::interop {
namespace {

TensorDevice device_of(const ArrowDeviceArray& array) {
  const auto* const type = backend::find_device_type(array.device_type);
  if (type == nullptr) {
    throw Error(ENOTSUP, "DLPack and the format name no " + backend::device_type_text(array.device_type) + " alike");
  }
  // DLPack: "For vanilla CPU memory, pinned memory, or managed memory, this is set to 0."
  const int64_t id = type->minus_one_is_0 ? 0 : array.device_id;
  if (id < 0) throw Error(EINVAL, "it is on " + backend::device_text(array.device_type, array.device_id));
  if (id > std::numeric_limits<int32_t>::max()) {
    throw Error(ENOTSUP, "device_id " + std::to_string(id) + " does not fit the 32 bits that DLPack has for it");
  }
  return {.type = array.device_type, .id = static_cast<int32_t>(id)};
}

// An array as a tensor: the slots that its rows show, from the root down to the elements.
class Elements {
 public:
  // Throws ENOTSUP if the array is not a tensor.
  explicit Elements(const schema::Binding& array) : array_(array) {
    Slots slots{.field = 0, .first = 0, .count = array[0].length};
    extents_.push_back(slots.count);
    for (; tree()[slots.field].type.layout == schema::Layout::kFixedSizeList; slots = below(slots)) {
      levels_.push_back(slots);
      extents_.push_back(tree()[slots.field].type.list_size);
    }
    levels_.push_back(slots);
    const auto& field = tree()[slots.field];
    type_ = field.dictionary < 0 ? find_element_type(field.source->format) : nullptr;
    if (type_ == nullptr) throw Error(ENOTSUP, tree().path(slots.field) + ": " + why_no_tensor(field));
  }

  const std::vector<int64_t>& shape() const noexcept { return extents_; }
  Dtype dtype() const noexcept { return type_->dtype(); }
  bool is_empty() const noexcept { return levels_.back().count == 0; }

  // Returns the buffer of the elements; byte_offset() is the position of the first.
  const void* data() const noexcept { return array_.buffer(levels_.back().field, schema::BufferShape::kValues); }
  int64_t byte_offset() const {
    return checked_mul(checked_add(array_[levels_.back().field].offset, levels_.back().first), type_->bytes());
  }

  // Returns strides in elements, row-major. Without elements any strides are valid, and the product of the extents
  // might overflow.
  std::vector<int64_t> strides() const {
    std::vector<int64_t> strides(extents_.size(), 1);
    if (is_empty()) return strides;
    for (size_t i = strides.size() - 1; i > 0; --i) {
      [[maybe_unused]] const bool overflows = __builtin_mul_overflow(strides[i], extents_[i], &strides[i - 1]);
      assert(!overflows && "there are as many elements, and they were counted");
    }
    return strides;
  }

  // Throws ENOTSUP if rows show nulls. Reads bitmaps whose nulls are not counted, on any device.
  void refuse_nulls(ArrowDeviceArray& whole) const {
    std::optional<Bitmaps> bitmaps;
    for (const Slots& slots : levels_) {
      const int64_t known = array_.null_count(slots.field);
      if (known == 0 || slots.count == 0) continue;
      const bool is_whole = slots.first == 0 && slots.count == array_[slots.field].length;
      int64_t nulls = known;
      if (known < 0 || !is_whole) {
        if (!bitmaps) bitmaps.emplace(array_, whole);
        nulls = bitmaps->validity->count_nulls(slots.field, slots.first, slots.count);
      }
      if (nulls > 0) {
        throw Error(ENOTSUP, tree().path(slots.field) + ": " + std::to_string(nulls) +
                                 (nulls == 1 ? " slot is" : " slots are") + " null, and tensors have no nulls");
      }
    }
  }

 private:
  // Slots of a field, counted from its first row.
  struct Slots {
    int32_t field;
    int64_t first;
    int64_t count;
  };

  // The objects that read bitmaps.
  struct Bitmaps {
    Bitmaps(const schema::Binding& array, ArrowDeviceArray& whole)
        : source(array::device_of(whole, nullptr)), use(source), event(source, whole.sync_event) {
      event.wait(deadline.left());
      if (!source.is_on_host()) lease = device::QueueLease(source);
      validity.emplace(array, inspect::DataSource{source, lease.get(), event, deadline, &whole});
    }

    device::Device& source;
    const device::DeviceUse use;
    const device::ForeignEvent event;
    const Deadline deadline{ARROWDEVICE_NO_TIMEOUT};
    device::QueueLease lease;
    std::optional<inspect::ValidityReader> validity;
  };

  const schema::Tree& tree() const noexcept { return array_.tree(); }

  // Returns the items of some lists. The binding has checked that the items exist, so nothing overflows.
  Slots below(const Slots& lists) const {
    const auto& list = tree()[lists.field];
    return {.field = list.first_child,
            .first = checked_mul(checked_add(array_[lists.field].offset, lists.first), list.type.list_size),
            .count = checked_mul(lists.count, list.type.list_size)};
  }

  const schema::Binding& array_;
  std::vector<Slots> levels_;
  std::vector<int64_t> extents_;
  const ElementType* type_ = nullptr;
};

// A tensor of this library, with all data that it points to.
struct Exported {
  ManagedTensor managed{};
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::shared_ptr<array::BufferOwner> owner;
  std::atomic<bool> has_ended{false};

  static void end(DLManagedTensorVersioned* self);
};

// The tensors that were destroyed last. Some consumers call the deleter of a tensor that they refuse, and their caller
// calls it again. PyTorch does so for device types that it does not know. The structs stay readable for a while, so
// that the second call has no effect. The class is trivially destructible, and has no locks because of fork.
class EndedTensors {
 public:
  void add(Exported* tensor) noexcept {
    const auto place = next_.fetch_add(1, std::memory_order_relaxed) % places_.size();
    delete places_[place].exchange(tensor, std::memory_order_acq_rel);
  }

 private:
  std::array<std::atomic<Exported*>, 8> places_{};
  std::atomic<uint32_t> next_{0};
};
constinit EndedTensors ended_tensors;

void Exported::end(DLManagedTensorVersioned* self) {
  auto* const tensor = static_cast<Exported*>(from_c(self)->manager_ctx);
  if (tensor->has_ended.exchange(true, std::memory_order_acq_rel)) {
    log(LogLevel::kWarning, "the deleter of a DLPack tensor was called twice");
    return;
  }
  tensor->owner.reset();
  tensor->managed.tensor = {};
  tensor->shape = {};
  tensor->strides = {};
  ended_tensors.add(tensor);
}

std::unique_ptr<Exported> tensor_of(const Elements& elements, const TensorDevice& device) {
  auto exported = std::make_unique<Exported>();
  exported->shape = elements.shape();
  exported->strides = elements.strides();
  exported->managed = {.version = {.major = ManagedTensor::kMajor, .minor = 0},
                       .manager_ctx = exported.get(),
                       .deleter = Exported::end,
                       .flags = ManagedTensor::kReadOnly,
                       .tensor = {.data = nullptr,  // DLPack's value if there are no elements
                                  .device = device,
                                  .ndim = static_cast<int32_t>(exported->shape.size()),
                                  .dtype = elements.dtype(),
                                  .shape = exported->shape.data(),
                                  .strides = exported->strides.data(),
                                  .byte_offset = 0}};
  if (!elements.is_empty()) {
    exported->managed.tensor.data = const_cast<void*>(elements.data());
    exported->managed.tensor.byte_offset = static_cast<uint64_t>(elements.byte_offset());
  }
  return exported;
}

void wait_for_data(const ArrowDeviceArray& array, device::Queue* waiter) {
  if (array.sync_event == nullptr) return;
  if (waiter != nullptr) {
    array::wait_on(array, nullptr, *waiter);
  } else {
    array::wait(array, nullptr, Deadline(ARROWDEVICE_NO_TIMEOUT));
  }
}

}  // namespace

ManagedTensor* export_tensor(ArrowDeviceArray& inout, const ArrowSchema& schema, device::Queue* waiter) {
  array::check_alive(&inout);
  Scratch scratch;
  const schema::Tree tree(schema, scratch.memory());
  const schema::Binding bound(tree, inout.array, scratch.memory());
  const TensorDevice device = device_of(inout);
  const Elements elements(bound);
  auto exported = tensor_of(elements, device);
  elements.refuse_nulls(inout);
  array::SharedArray shared(inout);
  wait_for_data(inout, waiter);
  exported->owner = shared.owner();
  shared.commit();
  return &exported.release()->managed;
}

}  // namespace arrowdevice::interop
