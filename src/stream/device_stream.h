// SPDX-License-Identifier: Apache-2.0
// Streams of the library, and the callbacks of the format around them.
#pragma once

#include <arrowdevice/abi.h>

#include <memory>

#include "base/error.h"

namespace arrowdevice::stream {

// A stream of the library. At most one consumer thread at a time calls schema() and next(); any thread may call
// cancel(). The release destroys the stream.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  virtual void schema(ArrowSchema* out) = 0;

  // Sets `out` to the next array. Returns false at the end, with `out` unchanged. The caller does not call it again
  // after it has thrown or returned false.
  virtual bool next(ArrowDeviceArray* out) = 0;

  // Wakes a thread that waits in next(). The call there throws.
  virtual void cancel() noexcept {}
};

// A stream before its publication. The constructor does all work that can fail. A producer's stream that is taken after
// it therefore stays taken.
template <typename Published>  // ArrowDeviceArrayStream, or ArrowArrayStream for a stream on the CPU
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

// Returns the failure behind get_last_error of a stream of the library, in full. Returns NULL for a foreign stream.
const Failure* last_failure(ArrowDeviceArrayStream& stream) noexcept;
const Failure* last_failure(ArrowArrayStream& stream) noexcept;

// Makes next() of a stream of the library fail with ECANCELED. Returns false for a foreign stream.
bool cancel(ArrowDeviceArrayStream& stream) noexcept;

}  // namespace arrowdevice::stream
