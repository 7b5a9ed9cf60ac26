// SPDX-License-Identifier: Apache-2.0
// Streams that the library hands out: what one does, and the callbacks of the format around it.
#pragma once

#include <arrowdevice/abi.h>

#include <memory>

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

  std::unique_ptr<Handed> handed_;
};

void publish_on(ArrowDeviceType type, Publication<ArrowDeviceArrayStream>& publication,
                ArrowDeviceArrayStream* out) noexcept;

// Makes next() of a stream of the library answer ECANCELED; false for a stream of someone else.
bool cancel(ArrowDeviceArrayStream& stream) noexcept;

}  // namespace arrowdevice::stream
