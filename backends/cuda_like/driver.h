// SPDX-License-Identifier: Apache-2.0
// What CUDA's driver and HIP's runtime have in common, under neutral names: GPUs by ordinal, streams, events, and
// memory of three kinds in one address space. One function is one call of the vendor's, or the few that make it up.
#pragma once

#include <arrowdevice/abi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace arrowdevice::cuda_like {

// The vendor's handles. NULL is the default stream.
using Context = void*;
using Stream = void*;
using NativeEvent = void*;

// What a vendor calls a kind of memory is a device to the format.
enum class MemoryKind { kDevice, kPinned, kManaged };

struct Properties {
  std::string name;
  std::array<uint8_t, 16> uuid{};
  int64_t total_memory = -1;
  bool has_stream_ordered_memory = false;
  bool has_managed_memory = false;
  bool shares_managed_memory = false;  // the CPU may use it while the GPU does
};

// What the driver knows of an address.
struct PointerFacts {
  MemoryKind kind;
  int ordinal;
  void* base;                 // NULL if not known
  int64_t size;               // -1 if not known
  Context context = nullptr;  // where it was made; NULL if not known
};

// Where an application's stream is.
struct StreamPlace {
  int ordinal;
  Context context;  // NULL where the vendor has none
};

// A copy within the reach of one GPU: its memory, and host memory.
struct Piece {
  void* to;
  const void* from;
  int64_t size;
};

// Functions throw Error with the vendor's call and code. Those that take a stream, event or memory are called while the
// GPU is current, which enter() makes it.
class Driver {
 public:
  virtual ~Driver() = default;

  virtual const char* vendor() const = 0;
  // As the vendor counts: 12040 for CUDA 12.4.
  virtual int api_version() const = 0;
  virtual int device_count() = 0;
  virtual Properties properties(int ordinal) = 0;
  // The primary context, which an application's runtime uses too; kept for as long as the process.
  virtual Context retain_context(int ordinal) = 0;
  virtual bool can_access_peer(int ordinal, int peer) = 0;
  // Where applications make contexts of their own: whether the primary one is there already, whether it is that one,
  // and the GPU of any.
  virtual bool has_primary_context(int /*ordinal*/) { return true; }
  virtual bool is_primary(Context, int /*ordinal*/) { return true; }
  virtual int ordinal_of(Context) { return -1; }

  // What was current before, to be given to leave().
  virtual int enter(int ordinal, Context context) = 0;
  virtual void leave(int former) noexcept = 0;

  // Whether the GPU cannot be used any more in this process after an error of that code.
  virtual bool is_fatal(int native_code) const noexcept = 0;
  // Whether the driver has shut down: what is given back is gone already.
  virtual bool has_shut_down(int native_code) const noexcept = 0;

  virtual void* allocate(MemoryKind kind, int64_t size) = 0;
  virtual void free(MemoryKind kind, void* memory) = 0;
  virtual void* allocate_on(Stream stream, int64_t size) = 0;
  virtual void free_on(Stream stream, void* memory) = 0;
  virtual void device_get_memory_info(int64_t* free_bytes, int64_t* total_bytes) = 0;
  virtual void register_host(void* memory, int64_t size) = 0;
  virtual void unregister_host(void* memory) = 0;
  virtual std::optional<PointerFacts> find_pointer(const void* pointer) = 0;
  // Managed memory goes to the GPU, which will use it next. Only where there is managed memory.
  virtual void prefetch(void* /*memory*/, int64_t /*size*/, int /*ordinal*/, Stream /*stream*/) {}

  virtual Stream create_stream() = 0;  // that no default stream waits for
  virtual void destroy_stream(Stream stream) = 0;
  virtual void synchronize(Stream stream) = 0;
  // Where an application's stream is; nothing if the driver does not say.
  virtual std::optional<StreamPlace> place_of(Stream stream) = 0;

  virtual void copy(const Piece& piece, Stream stream) = 0;
  // Both ends are memory of GPUs.
  virtual void copy_peer(const Piece& piece, int to, Context to_context, int from, Context from_context,
                         Stream stream) = 0;
  // Whether several copies can be given to that stream at once, which then run in any order; and that.
  virtual bool takes_batches(Stream) { return false; }
  virtual void copy_batch(std::span<const Piece> pieces, Stream stream) {
    for (const Piece& piece : pieces) copy(piece, stream);
  }

  virtual NativeEvent create_event() = 0;  // without timing
  virtual void destroy_event(NativeEvent event) = 0;
  virtual void record(NativeEvent event, Stream stream) = 0;
  virtual bool is_done(NativeEvent event) = 0;
  virtual void wait(NativeEvent event) = 0;
  virtual void wait_on(Stream stream, NativeEvent event) = 0;
};

}  // namespace arrowdevice::cuda_like
