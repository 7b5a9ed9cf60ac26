// SPDX-License-Identifier: Apache-2.0
#include "link/sources.h"

#include <cerrno>
#include <string>
#include <utility>

#include "array/locate.h"
#include "array/slice.h"
#include "base/error.h"
#include "link/shareable_array.h"
#include "schema/copy.h"
#include "stream/sources.h"

namespace arrowdevice::link {

void StreamSource::open(ArrowDeviceArrayStream* out) {
  const std::lock_guard lock(mutex_);
  if (stream_->release == nullptr) throw Error(EBUSY, "another client has taken the stream");
  *out = std::exchange(*stream_, {});
}

void StreamSource::put_back(ArrowDeviceArrayStream& moved) noexcept {
  const std::lock_guard lock(mutex_);
  if (stream_->release == nullptr) stream_.take(moved);
}

ArraysSource::ArraysSource(const ArrowSchema& schema, std::span<ArrowDeviceArray> inout,
                           const transfer::CopyOptions& options) {
  const schema::Tree tree(schema);
  static_cast<void>(write_type(schema));  // refuses a type for all clients at once
  ArrowSchema copied{};
  schema::copy(schema, &copied);
  schema_ = schema::UniqueSchema(copied);
  arrays_.resize(inout.size());
  try {
    for (size_t i = 0; i < inout.size(); ++i) {
      array::check_alive(&inout[i]);
      auto& device = array::device_of(inout[i], options.source);
      const device::DeviceUse use(device);
      copied_bytes_ += make_shareable(inout[i], tree, device, options, &arrays_[i]).copied_bytes;
      if (arrays_[i].array.release == nullptr) array::share(inout[i], &arrays_[i]);
      if (i == 0) device_type_ = inout[i].device_type;
      if (inout[i].device_type == device_type_) continue;
      throw Error(EINVAL, "array " + std::to_string(i) + " is on another type of device than array 0");
    }
  } catch (...) {
    for (auto& array : arrays_) {
      if (array.array.release != nullptr) array.array.release(&array.array);
    }
    throw;
  }
}

ArraysSource::~ArraysSource() {
  for (auto& array : arrays_) array.array.release(&array.array);
}

void ArraysSource::open(ArrowDeviceArrayStream* out) {
  ArrowSchema copied{};
  schema::copy(schema_.get(), &copied);
  schema::UniqueSchema schema(copied);
  std::vector<ArrowDeviceArray> shared(arrays_.size());
  try {
    {
      const std::lock_guard lock(mutex_);
      for (size_t i = 0; i < arrays_.size(); ++i) array::share(arrays_[i], &shared[i]);
    }
    ArrowSchema moved = schema.take();
    schema = schema::UniqueSchema();
    try {
      stream::from_arrays(moved, shared, device_type_, out);
    } catch (...) {
      moved.release(&moved);
      throw;
    }
  } catch (...) {
    for (auto& array : shared) {
      if (array.array.release != nullptr) array.array.release(&array.array);
    }
    throw;
  }
}

void FunctionSource::open(ArrowDeviceArrayStream* out) {
  arrowdevice_error error{};
  out->release = nullptr;
  const int code = open_(user_, out, &error);
  if (code != 0) {
    out->release = nullptr;
    throw Error(code, error.message[0] != '\0' ? error.message : "the source of the stream failed");
  }
  if (out->release == nullptr) throw Error(EINVAL, "the source of the stream succeeded and gave no stream");
}

}  // namespace arrowdevice::link
