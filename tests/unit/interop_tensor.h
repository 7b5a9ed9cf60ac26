// SPDX-License-Identifier: Apache-2.0
// Holds the tensors of DLPack tests: tensors of the library, and tensors of a foreign producer.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "interop/dlpack.h"
#include "library.h"
#include "support/callback.h"

namespace library_test {

using arrowdevice::interop::Dtype;
using arrowdevice::interop::from_c;
using arrowdevice::interop::ManagedTensor;
using arrowdevice::interop::to_c;

using Extents = std::vector<int64_t>;

// Deletes a tensor that the library has made.
struct EndTensor {
  void operator()(ManagedTensor* tensor) const noexcept { tensor->deleter(to_c(tensor)); }
};
using Exported = std::unique_ptr<ManagedTensor, EndTensor>;

inline Exported exported(ArrowDeviceArray& array, const ArrowSchema& schema, arrowdevice_queue* waiter = nullptr) {
  auto* made = output_of(arrowdevice_dlpack_export, &array, &schema, waiter);
  return Exported(from_c(made));
}

inline Extents shape_of(const ManagedTensor& tensor) {
  return {tensor.tensor.shape, tensor.tensor.shape + tensor.tensor.ndim};
}
inline Extents strides_of(const ManagedTensor& tensor) {
  return {tensor.tensor.strides, tensor.tensor.strides + tensor.tensor.ndim};
}

// A foreign tensor over foreign memory. It holds 32-bit integers on the CPU unless a test changes that.
class Foreign {
 public:
  explicit Foreign(Extents extents, const void* data) : shape(std::move(extents)) {
    managed.version = {.major = 1, .minor = 2};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensorVersioned* self) {
      enter_callback("deleter of a tensor");
      ++static_cast<Foreign*>(from_c(self)->manager_ctx)->deleted;
    };
    managed.tensor.data = const_cast<void*>(data);
    managed.tensor.device = {.type = ARROW_DEVICE_CPU, .id = 0};
    managed.tensor.dtype = {.code = Dtype::kInt, .bits = 32, .lanes = 1};
    managed.tensor.ndim = static_cast<int32_t>(shape.size());
    managed.tensor.shape = shape.data();
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  DLManagedTensorVersioned* get() { return to_c(&managed); }
  void set_device(int32_t type, int32_t id) { managed.tensor.device = {.type = type, .id = id}; }
  void set_strides(Extents given) {
    strides = std::move(given);
    managed.tensor.strides = strides.data();
  }

  ManagedTensor managed{};
  Extents shape;
  Extents strides;
  std::atomic<int> deleted = 0;
};

struct Imported {
  Array array;
  Owned<ArrowSchema> schema;
};

inline Imported imported(DLManagedTensorVersioned* moved, arrowdevice_queue* written_on = nullptr) {
  Imported made;
  must(arrowdevice_dlpack_import, moved, written_on, made.array.out(), made.schema.out());
  return made;
}

}  // namespace library_test
