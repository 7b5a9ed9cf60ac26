// SPDX-License-Identifier: Apache-2.0
// Streams that the library hands out: what one does, and the callbacks of the format around it.
#pragma once

#include <arrowdevice/abi.h>

#include <memory>

#include "base/error.h"

namespace arrowdevice::stream {

// One consumer's thread at a time is in schema() and next(); cancel() may come from any. Destroyed with its release.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  virtual void schema(ArrowSchema* out) = 0;

  // The next array; false at the end, with `out` untouched. Not called again after it has thrown or returned false.
  virtual bool next(ArrowDeviceArray* out) = 0;

  // Whoever waits in next() is woken, and throws.
  virtual void cancel() noexcept {}
};

// A stream on its way out. All that can fail is over once this is made, so that a producer's stream is then taken over
// for good.
template <typename Published>  // ArrowDeviceArrayStream, or ArrowArrayStream for one on the CPU
class Publication {
 public:
  explicit Publication(std::unique_ptr<DeviceStream> stream);
  ~Publication();
  Publication(const Publication&) = delete;

  void publish(Published* out) noexcept;

 private:
  struct Handed;
  friend bool cancel(ArrowDeviceArrayStream& stream) noexcept;
  friend const Failure* last_failure(ArrowDeviceArrayStream& stream) noexcept;
  friend const Failure* last_failure(ArrowArrayStream& stream) noexcept;

  std::unique_ptr<Handed> handed_;
};

void publish_on(ArrowDeviceType type, Publication<ArrowDeviceArrayStream>& publication,
                ArrowDeviceArrayStream* out) noexcept;

// What get_last_error of a stream of the library tells of, whole; NULL for a stream of someone else.
const Failure* last_failure(ArrowDeviceArrayStream& stream) noexcept;
const Failure* last_failure(ArrowArrayStream& stream) noexcept;

// Makes next() of a stream of the library answer ECANCELED; false for a stream of someone else.
bool cancel(ArrowDeviceArrayStream& stream) noexcept;

}  // namespace arrowdevice::stream
