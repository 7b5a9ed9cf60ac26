// SPDX-License-Identifier: Apache-2.0
// A producer's stream that the library owns.
#pragma once

#include <arrowdevice/abi.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/error.h"
#include "stream/device_stream.h"

namespace arrowdevice::stream {

// Throws the error of a failed callback of a producer, with its text if it has any. If the producer is this library,
// the error is complete.
template <typename Stream>
[[noreturn]] void throw_producers_error(Stream& stream, int code, const char* call) {
  if (const Failure* const own = last_failure(stream)) own->raise();
  const char* said = stream.get_last_error(&stream);
  throw Error(code, said != nullptr ? std::string(said) : format("%s of the stream failed with errno %d", call, code));
}

template <typename Stream>
void get_schema(Stream& stream, ArrowSchema* out) {
  out->release = nullptr;
  const int code = stream.get_schema(&stream, out);
  if (code == 0) {
    if (out->release == nullptr) throw Error(EINVAL, "get_schema of the stream succeeded and gave no schema");
    return;
  }
  out->release = nullptr;
  throw_producers_error(stream, code, "get_schema");
}

// Gets the next array. A released array marks the end.
inline void get_next(ArrowDeviceArrayStream& stream, ArrowDeviceArray* out) {
  out->array.release = nullptr;
  const int code = stream.get_next(&stream, out);
  if (code == 0) return;
  out->array.release = nullptr;
  throw_producers_error(stream, code, "get_next");
}
inline void get_next(ArrowArrayStream& stream, ArrowArray* out) {
  out->release = nullptr;
  const int code = stream.get_next(&stream, out);
  if (code == 0) return;
  out->release = nullptr;
  throw_producers_error(stream, code, "get_next");
}

// Owns a stream, and releases it in the destructor.
template <typename Stream>
class Upstream {
 public:
  Upstream() = default;
  ~Upstream() { release(); }
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  void take(Stream& moved) noexcept {
    stream_ = moved;
    moved.release = nullptr;
  }

  Stream& operator*() noexcept { return stream_; }
  Stream* operator->() noexcept { return &stream_; }

  void release() noexcept {
    if (stream_.release != nullptr) stream_.release(&stream_);
    stream_.release = nullptr;
  }

 private:
  Stream stream_{};
};

}  // namespace arrowdevice::stream
