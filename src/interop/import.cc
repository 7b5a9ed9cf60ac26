// SPDX-License-Identifier: Apache-2.0
#include "interop/import.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array/export.h"
#include "array/output.h"
#include "array/owners.h"
#include "backend/device_types.h"
#include "base/checked.h"
#include "device/devices.h"
#include "interop/dtype.h"
#include "schema/build.h"

namespace arrowdevice::interop {
namespace {

[[noreturn, gnu::cold]] void refuse(int code, const std::string& why) { throw Error(code, "the tensor: " + why); }

[[noreturn, gnu::cold]] void refuse_dimension(int code, size_t dimension, const std::string& why) {
  refuse(code, "dimension " + std::to_string(dimension) + " " + why);
}

// Throws ENOTSUP for another major version. Members after the version must not be read before this check.
void check_version(const Version& version) {
  if (version.major == ManagedTensor::kMajor) return;
  refuse(ENOTSUP, format("it is of DLPack %u.%u, and only those of version 1 are known", version.major, version.minor));
}

void check_device(const TensorDevice& device) {
  if (backend::find_device_type(device.type) == nullptr) {
    refuse(ENOTSUP, "it is on " + backend::device_type_text(device.type) + ", which Arrow does not name");
  }
  if (backend::canonical_device_id(device.type, device.id) < 0) {
    refuse(EINVAL, "it is on " + backend::device_text(device.type, device.id));
  }
}

// The extents or lengths of the dimensions, without an allocation.
class Extents {
 public:
  explicit Extents(size_t size) : size_(size) {}

  int64_t& operator[](size_t i) noexcept { return values_[i]; }
  operator std::span<const int64_t>() const noexcept { return std::span(values_).first(size_); }
  size_t size() const noexcept { return size_; }

 private:
  size_t size_;
  std::array<int64_t, schema::kDeepest> values_;
};

Extents shape_of(const Tensor& tensor) {
  if (tensor.ndim < 0) refuse(EINVAL, "ndim is " + std::to_string(tensor.ndim));
  if (tensor.ndim > schema::kDeepest) {
    refuse(ENOTSUP, "it has " + std::to_string(tensor.ndim) + " dimensions, and arrays are at most " +
                        std::to_string(schema::kDeepest) + " levels deep");
  }
  Extents shape(static_cast<size_t>(std::max(tensor.ndim, 1)));
  shape[0] = 1;
  if (tensor.ndim == 0) return shape;  // a scalar becomes an array of one row
  if (tensor.shape == nullptr) refuse(EINVAL, "shape is NULL, ndim " + std::to_string(tensor.ndim));
  for (size_t i = 0; i < shape.size(); ++i) {
    shape[i] = tensor.shape[i];
    if (shape[i] < 0) refuse_dimension(EINVAL, i, "is " + std::to_string(shape[i]));
    if (i > 0 && shape[i] > std::numeric_limits<int32_t>::max())
      refuse_dimension(ENOTSUP, i, "is " + std::to_string(shape[i]) + ", and lists have at most 2^31 - 1 items");
  }
  return shape;
}

// Returns the lengths of the lists, level by level, and of their elements: shape[0], shape[0] * shape[1], ...
Extents lengths_of(std::span<const int64_t> shape) {
  Extents lengths(shape.size());
  int64_t length = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (__builtin_mul_overflow(length, shape[i], &length))
      refuse_dimension(EINVAL, i, "is " + std::to_string(shape[i]) + ": the number of elements overflows");
    lengths[i] = length;
  }
  return lengths;
}

// Checks that the lists are contiguous. A dimension without a neighbour may have any stride.
void check_strides(const Tensor& tensor, std::span<const int64_t> shape) {
  if (tensor.strides == nullptr) return;
  int64_t compact = 1;
  for (auto i = static_cast<size_t>(tensor.ndim); i-- > 0;) {
    if (shape[i] != 1 && tensor.strides[i] != compact) {
      refuse_dimension(ENOTSUP, i,
                       "has stride " + std::to_string(tensor.strides[i]) + ", and in compact row-major order has " +
                           std::to_string(compact));
    }
    compact *= shape[i];
  }
}

// The position of the elements: a buffer, and the index of the first element in it.
struct Place {
  const void* buffer = nullptr;
  int64_t first = 0;
};

// Returns false for handles, because offsets cannot be added to them.
bool has_addresses(const ArrowDeviceArray& array, const void* data) {
  try {
    return device::Devices::instance().locate(array.device_type, array.device_id, data, nullptr).has_addresses();
  } catch (const Error& e) {
    if (e.code() != ENODEV) throw;
    return false;  // unknown device: the array's own offset works for both
  }
}

Place place_of(const Tensor& tensor, const ArrowDeviceArray& array, int64_t elements, int64_t bytes_of_one) {
  if (elements == 0) return {};
  if (tensor.data == nullptr) refuse(EINVAL, "data is NULL, and there are " + std::to_string(elements) + " elements");
  int64_t end = 0;
  if (__builtin_mul_overflow(elements, bytes_of_one, &end) ||
      tensor.byte_offset > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) ||
      __builtin_add_overflow(end, static_cast<int64_t>(tensor.byte_offset), &end)) {
    refuse(EINVAL,
           std::to_string(elements) + " elements and byte_offset " + std::to_string(tensor.byte_offset) + " overflow");
  }
  const auto byte_offset = static_cast<int64_t>(tensor.byte_offset);
  if (byte_offset == 0) return {.buffer = tensor.data, .first = 0};
  if (has_addresses(array, tensor.data))
    return {.buffer = static_cast<const char*>(tensor.data) + byte_offset, .first = 0};
  if (byte_offset % bytes_of_one != 0) {
    refuse(ENOTSUP, "byte_offset " + std::to_string(byte_offset) + " is not a multiple of the " +
                        std::to_string(bytes_of_one) + " bytes of an element, and handles cannot be added to");
  }
  return {.buffer = tensor.data, .first = byte_offset / bytes_of_one};
}

// Makes the array's type: a list for each dimension but the first.
schema::UniqueSchema make_type(std::span<const int64_t> shape, const ElementType& type) {
  schema::UniqueSchema made;
  for (size_t level = shape.size(); level-- > 0;) {
    const bool is_list = static_cast<bool>(made);
    std::vector<schema::UniqueSchema> children;
    if (is_list) children.push_back(std::move(made));
    schema::SchemaTexts texts{.format = is_list ? "+w:" + std::to_string(shape[level + 1]) : std::string(type.format),
                              .name = level == 0 ? "" : "item",
                              .metadata = {}};
    made = schema::make_schema(std::move(texts), ARROW_FLAG_NULLABLE, std::move(children), {});
  }
  return made;
}

array::Output make_array(std::span<const int64_t> lengths, const Place& place) {
  const auto levels = static_cast<int64_t>(lengths.size());
  array::Output output({.nodes = levels, .children = levels - 1, .buffers = levels + 1});
  ArrowArray* parent = nullptr;
  for (int64_t i = 0; i < levels; ++i) {
    const bool is_list = i + 1 < levels;
    auto& node = output.add_node(is_list ? 1 : 2, is_list ? 1 : 0);
    node.length = lengths[static_cast<size_t>(i)];
    if (!is_list) {
      node.buffers[1] = place.buffer;
      node.offset = place.first;
    }
    if (parent != nullptr) parent->children[0] = &node;
    parent = &node;
  }
  return output;
}

// Releases the array on the producer's side.
void release_tensor(ArrowArray* array) {
  auto* const tensor = static_cast<ManagedTensor*>(array->private_data);
  array->release = nullptr;
  if (tensor->deleter != nullptr) tensor->deleter(to_c(tensor));
}

}  // namespace

void import_tensor(ManagedTensor& moved, device::Queue* written_on, ArrowDeviceArray* out, ArrowSchema* out_schema) {
  check_version(moved.version);
  const Tensor& tensor = moved.tensor;
  check_device(tensor.device);
  const auto* const type = find_element_type(tensor.dtype);
  if (type == nullptr) refuse(ENOTSUP, why_no_array(tensor.dtype));
  const Extents shape = shape_of(tensor);
  Extents lengths = lengths_of(shape);
  const int64_t elements = lengths[lengths.size() - 1];
  if (elements != 0) check_strides(tensor, shape);

  ArrowDeviceArray made{};
  made.device_type = tensor.device.type;
  made.device_id = made.device_type == ARROW_DEVICE_CPU ? -1 : tensor.device.id;
  const Place place = place_of(tensor, made, elements, type->bytes());

  auto owner = std::make_shared<array::ImportedOwner>();
  auto output = make_array(lengths, place);
  if (written_on != nullptr) {
    auto& device = device::Devices::instance().locate(made.device_type, made.device_id, place.buffer, nullptr);
    device.check_usable();
    if (array::carries_events_of(device, *written_on)) {
      auto event = written_on->record();
      made.sync_event = event->publish();
      owner->set_event(std::move(event));
    } else {
      written_on->finish(ARROWDEVICE_NO_TIMEOUT);
    }
  }
  if (out_schema != nullptr) *out_schema = make_type(shape, *type).take();

  // No step fails from here on.
  auto& owned = owner->array();
  owned = made;
  owned.array.release = release_tensor;
  owned.array.private_data = &moved;
  *out = made;
  output.publish(std::move(owner), &out->array);
}

}  // namespace arrowdevice::interop
