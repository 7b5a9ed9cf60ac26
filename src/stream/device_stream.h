// SPDX-License-Identifier: Apache-2.0
// Streams of the library, and the callbacks of the format around them.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"

namespace arrowdevice::stream {

// Metadata of an async stream or of one of its items, encoded like ArrowSchema.metadata.
using Metadata = std::optional<std::string>;

// Copies metadata, or returns nullopt for NULL. Throws EINVAL if the metadata is malformed.
Metadata copy_metadata(const char* encoded);

// Copies the metadata of an error. Returns nullopt if that is not possible, because the error itself matters more.
Metadata copy_error_metadata(const char* encoded) noexcept;

inline const char* encoded(const Metadata& metadata) noexcept { return metadata ? metadata->data() : nullptr; }

// A stream of the library. At most one consumer thread at a time calls schema() and next(); any thread may call
// cancel(). The release destroys the stream.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;

  virtual void schema(ArrowSchema* out) = 0;

  // Returns the stream's metadata, or NULL if it has none. It comes with the schema, so the caller calls schema()
  // first.
  virtual const char* metadata() const noexcept { return nullptr; }

  // Sets `out` to the next array. Returns false at the end, with `out` unchanged. The caller does not call it again
  // after it has thrown or returned false. Sets `metadata` if the array, the end or the error has metadata.
  virtual bool next(ArrowDeviceArray* out, Metadata& metadata) = 0;

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
  friend bool is_own(const ArrowDeviceArrayStream& stream) noexcept;
  friend const char* metadata_of(ArrowDeviceArrayStream& stream, int32_t kind) noexcept;
  friend const Failure* last_failure(ArrowDeviceArrayStream& stream) noexcept;
  friend const Failure* last_failure(ArrowArrayStream& stream) noexcept;

  std::unique_ptr<Handed> handed_;
};

void publish_on(ArrowDeviceType type, Publication<ArrowDeviceArrayStream>& publication,
                ArrowDeviceArrayStream* out) noexcept;

// Returns the failure behind get_last_error of a stream of the library, in full. Returns NULL for a foreign stream.
const Failure* last_failure(ArrowDeviceArrayStream& stream) noexcept;
const Failure* last_failure(ArrowArrayStream& stream) noexcept;

// Returns true for a stream of the library.
bool is_own(const ArrowDeviceArrayStream& stream) noexcept;

// Returns the metadata of a kind, ARROWDEVICE_METADATA_*. Returns NULL if there is none, as in a foreign stream. The
// caller gets the schema before it asks for the metadata of the stream.
const char* metadata_of(ArrowDeviceArrayStream& stream, int32_t kind) noexcept;

// Makes next() of a stream of the library fail with ECANCELED. Returns false for a foreign stream.
bool cancel(ArrowDeviceArrayStream& stream) noexcept;

}  // namespace arrowdevice::stream
