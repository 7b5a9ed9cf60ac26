// SPDX-License-Identifier: Apache-2.0
#include "stream/sources.h"

#include <cerrno>
#include <string>
#include <vector>

#include "array/locate.h"
#include "backend/device_types.h"
#include "base/error.h"
#include "schema/binding.h"
#include "schema/copy.h"
#include "schema/tree.h"
#include "stream/device_stream.h"
#include "stream/upstream.h"
#include "transfer/move.h"

namespace arrowdevice::stream {
namespace {

class ArraysStream final : public DeviceStream {
 public:
  explicit ArraysStream(size_t n) : arrays_(n) {}
  ~ArraysStream() override {
    for (; next_ < arrays_.size(); ++next_) {
      auto& array = arrays_[next_].array;
      if (array.release != nullptr) array.release(&array);
    }
    if (schema_.release != nullptr) schema_.release(&schema_);
  }

  void take(ArrowSchema& moved, std::span<ArrowDeviceArray> moved_arrays) noexcept {
    schema_ = moved;
    moved.release = nullptr;
    for (size_t i = 0; i < arrays_.size(); ++i) {
      arrays_[i] = moved_arrays[i];
      array::make_canonical(arrays_[i]);
      moved_arrays[i].array.release = nullptr;
    }
  }

  void schema(ArrowSchema* out) override { schema::copy(schema_, out); }

  bool next(ArrowDeviceArray* out, Metadata&) override {
    if (next_ == arrays_.size()) return false;
    *out = arrays_[next_++];
    return true;
  }

 private:
  ArrowSchema schema_{};
  std::vector<ArrowDeviceArray> arrays_;
  size_t next_ = 0;
};

class HostStream final : public DeviceStream {
 public:
  void take(ArrowArrayStream& moved) noexcept { upstream_.take(moved); }

  void schema(ArrowSchema* out) override { get_schema(*upstream_, out); }

  bool next(ArrowDeviceArray* out, Metadata&) override {
    ArrowArray array;
    get_next(*upstream_, &array);
    if (array.release == nullptr) return false;
    transfer::from_host(array, out);
    return true;
  }

 private:
  Upstream<ArrowArrayStream> upstream_;
};

void check(const schema::Tree& tree, const ArrowDeviceArray& array, ArrowDeviceType type, size_t i) {
  try {
    array::check_alive(&array);
    if (array.device_type != type) {
      throw Error(EINVAL, "it is on " + backend::device_text(array.device_type, array.device_id));
    }
    array::check_event(array);
    const schema::Binding fits(tree, array.array);
  } catch (const Error& e) {
    throw Error(e.code(), "array " + std::to_string(i) + " of the stream: " + e.message());
  }
}

}  // namespace

void from_arrays(ArrowSchema& moved, std::span<ArrowDeviceArray> moved_arrays, ArrowDeviceType type,
                 ArrowDeviceArrayStream* out) {
  if (type <= 0) throw Error(EINVAL, format("%d is not a device type", type));
  const schema::Tree tree(moved);
  for (size_t i = 0; i < moved_arrays.size(); ++i) check(tree, moved_arrays[i], type, i);
  auto stream = std::make_unique<ArraysStream>(moved_arrays.size());
  auto& arrays = *stream;
  Publication<ArrowDeviceArrayStream> publication(std::move(stream));
  arrays.take(moved, moved_arrays);
  publish_on(type, publication, out);
}

void from_host(ArrowArrayStream& moved, ArrowDeviceArrayStream* out) {
  auto stream = std::make_unique<HostStream>();
  auto& host = *stream;
  Publication<ArrowDeviceArrayStream> publication(std::move(stream));
  host.take(moved);
  publish_on(ARROW_DEVICE_CPU, publication, out);
}

}  // namespace arrowdevice::stream
