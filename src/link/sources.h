// SPDX-License-Identifier: Apache-2.0
// The data that a server offers under a name.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "schema/build.h"
#include "stream/upstream.h"
#include "transfer/move.h"

namespace arrowdevice::link {

// Any thread may call this class.
class Source {
 public:
  virtual ~Source() = default;

  // Opens a stream for a client. Throws if there is none.
  virtual void open(ArrowDeviceArrayStream* out) = 0;

  // Takes back a stream of which the client got no batch, if another client can have it. Otherwise leaves it unchanged.
  virtual void put_back(ArrowDeviceArrayStream&) noexcept {}
};

// A stream that the first client gets.
class StreamSource final : public Source {
 public:
  void take(ArrowDeviceArrayStream& moved) noexcept { stream_.take(moved); }
  void open(ArrowDeviceArrayStream* out) override;
  void put_back(ArrowDeviceArrayStream& moved) noexcept override;

 private:
  std::mutex mutex_;
  stream::Upstream<ArrowDeviceArrayStream> stream_;
};

// Arrays that every client gets. They are copied into shareable memory once, if they are not there.
class ArraysSource final : public Source {
 public:
  // The arrays stay valid, and may become shared owners.
  ArraysSource(const ArrowSchema& schema, std::span<ArrowDeviceArray> inout, const transfer::CopyOptions& options);
  ~ArraysSource() override;
  void open(ArrowDeviceArrayStream* out) override;

  int64_t copied_bytes() const noexcept { return copied_bytes_; }

 private:
  std::mutex mutex_;
  schema::UniqueSchema schema_;
  std::vector<ArrowDeviceArray> arrays_;
  ArrowDeviceType device_type_ = ARROW_DEVICE_CPU;
  int64_t copied_bytes_ = 0;
};

// A function of the program that opens a stream for each client.
class FunctionSource final : public Source {
 public:
  using Open = int (*)(void* user, ArrowDeviceArrayStream* out, arrowdevice_error* error);

  FunctionSource(Open function, void* user) noexcept : open_(function), user_(user) {}
  ~FunctionSource() override {
    if (user_release_ != nullptr) user_release_(user_);
  }
  void open(ArrowDeviceArrayStream* out) override;

  // Sets the release of the user's pointer, which may be NULL.
  void own(void (*user_release)(void* user)) noexcept { user_release_ = user_release; }

 private:
  const Open open_;
  void* const user_;
  void (*user_release_)(void* user) = nullptr;
};

}  // namespace arrowdevice::link
