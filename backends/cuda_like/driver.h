// SPDX-License-Identifier: Apache-2.0
// The common part of CUDA's driver API and HIP's runtime API, under neutral names. It covers GPUs by ordinal, streams,
// events, and three kinds of memory in one address space. Each function is one vendor call, or the few calls that
// implement it.
#pragma once

#include <arrowdevice/abi.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/file_descriptor.h"

namespace arrowdevice::cuda_like {

// The vendor's handles. NULL is the default stream.
using Context = void*;
using Stream = void*;
using NativeEvent = void*;
using MemoryPool = void*;

// The vendor's kinds of memory. The format sees each kind as a device.
enum class MemoryKind { kDevice, kPinned, kManaged };

struct Properties {
  std::string name;
  std::array<uint8_t, 16> uuid{};
  int64_t total_memory = -1;
  int numa_node = -1;             // nearest to the GPU; -1 if unknown
  bool has_memory_pools = false;  // of stream-ordered memory
  bool has_managed_memory = false;
  bool shares_managed_memory = false;  // the CPU may use it while the GPU does
  bool reads_host_pages = false;       // the GPU uses pageable memory by the page tables of the host
  int64_t shareable_granularity = 0;   // bytes, of memory that other processes can open; 0: there is none
};

// The driver's information about an address.
struct PointerFacts {
  MemoryKind kind;
  int ordinal;
  void* base;                 // NULL if not known
  int64_t size;               // -1 if not known
  Context context = nullptr;  // context of the allocation; NULL if not known
};

// The GPU and context of an application's stream.
struct StreamPlace {
  int ordinal;
  Context context;  // NULL if the vendor has no contexts
};

// A copy that one GPU can do: between its own memory and host memory.
struct Piece {
  void* to;
  const void* from;
  int64_t size;
};

// Functions throw Error with the vendor's call and code. The caller calls enter() before a function that takes a
// stream, an event or memory.
class Driver {
 public:
  virtual ~Driver() = default;

  virtual const char* vendor() const = 0;
  // Returns the version as the vendor encodes it: 12040 for CUDA 12.4.
  virtual int api_version() const = 0;
  virtual int device_count() = 0;
  virtual Properties properties(int ordinal) = 0;
  // Returns the primary context, which an application's runtime uses too. The driver retains it until the process ends.
  virtual Context retain_context(int ordinal) = 0;
  virtual bool can_access_peer(int ordinal, int peer) = 0;
  // Lets the current context use all memory of another GPU's context in place, if the application asked for that.
  virtual void enable_peer_access(Context /*peer*/) {}
  // has_primary_context() returns true if the primary context exists. is_primary() returns true if a context is the
  // primary context. ordinal_of() returns the GPU of a context. Vendors without contexts do not override these
  // functions.
  virtual bool has_primary_context(int /*ordinal*/) { return true; }
  virtual bool is_primary(Context, int /*ordinal*/) { return true; }
  virtual int ordinal_of(Context) { return -1; }

  // Makes the GPU current. Returns the former state, which the caller passes to leave().
  virtual int enter(int ordinal, Context context) = 0;
  virtual void leave(int former) noexcept = 0;

  // Lets this thread make calls that would end another thread's capture of a stream into a graph, and that would fail
  // during such a capture. Returns the former mode, which the caller passes to restore_captures(). The calls cannot
  // fail.
  virtual int relax_captures() noexcept = 0;
  virtual void restore_captures(int former) noexcept = 0;

  // Returns true if the process cannot use the GPU any more after an error with this code.
  virtual bool is_fatal(int native_code) const noexcept = 0;
  // Returns true if a GPU could not be made current because its context was destroyed.
  virtual bool is_context_gone(int /*native_code*/) const noexcept { return false; }
  // Returns true if the driver has shut down. It has then freed all objects already.
  virtual bool has_shut_down(int native_code) const noexcept = 0;

  virtual void* allocate(MemoryKind kind, int64_t size) = 0;
  virtual void free(MemoryKind kind, void* memory) = 0;

  // Creates a pool of stream-ordered memory of a GPU, which the driver keeps until the process ends. The pool returns
  // freed memory to the system while it holds more than `kept_bytes`. An allocation never waits for the work of another
  // stream.
  virtual MemoryPool create_pool(int ordinal, int64_t kept_bytes) = 0;
  // Lets another GPU use all present and future memory of the pool in place.
  virtual void grant_access(MemoryPool pool, int ordinal) = 0;
  // Returns unused memory to the system.
  virtual void trim(MemoryPool pool) = 0;
  virtual void* allocate_from(MemoryPool pool, Stream stream, int64_t size) = 0;
  virtual void free_on(Stream stream, void* memory) = 0;

  // Memory that other processes can open. Sizes are multiples of the granularity. A vendor without such memory does not
  // override these functions. The GPUs of `users` may use the memory in place; the GPU itself is one of them.
  virtual void* allocate_shareable(int /*ordinal*/, std::span<const int> /*users*/, int64_t /*size*/) {
    refuse_sharing();
  }
  virtual void free_shareable(void* /*memory*/, int64_t /*size*/) { refuse_sharing(); }
  virtual FileDescriptor export_memory(const void* /*memory*/) { refuse_sharing(); }
  // Throws Error(EINVAL) if the descriptor is no such memory, or if the memory is smaller than `size`.
  virtual void* import_memory(std::span<const int> /*users*/, int /*descriptor*/, int64_t /*size*/) {
    refuse_sharing();
  }
  virtual void clear(void* /*memory*/, int64_t /*size*/, Stream /*stream*/) { refuse_sharing(); }

  virtual void device_get_memory_info(int64_t* free_bytes, int64_t* total_bytes) = 0;
  virtual std::optional<PointerFacts> find_pointer(const void* pointer) = 0;
  // Moves managed memory to the GPU, which uses it next. The backend calls this only if the GPU has managed memory.
  virtual void prefetch(void* /*memory*/, int64_t /*size*/, int /*ordinal*/, Stream /*stream*/) {}

  virtual Stream create_stream() = 0;  // no default stream waits for it
  virtual void destroy_stream(Stream stream) = 0;
  virtual void synchronize(Stream stream) = 0;
  // Returns the GPU and context of an application's stream, or nullopt if the driver does not know them.
  virtual std::optional<StreamPlace> place_of(Stream stream) = 0;

  // Returns true if an application is capturing the stream into a graph. Work on the stream then does not run, but
  // becomes part of the graph.
  virtual bool is_capturing(Stream stream) = 0;

  virtual void copy(const Piece& piece, Stream stream) = 0;
  // Copies between the memory of two GPUs.
  virtual void copy_peer(const Piece& piece, int to, Context to_context, int from, Context from_context,
                         Stream stream) = 0;
  // takes_batches() returns true if the stream accepts several copies at once. copy_batch() enqueues them, and they run
  // in any order. If it fails, some of them may be enqueued. After give_up_batches(), no stream takes batches.
  virtual bool takes_batches(Stream) { return false; }
  virtual void give_up_batches(const Error& /*reason*/) noexcept {}
  virtual void copy_batch(std::span<const Piece> pieces, Stream stream) {
    for (const Piece& piece : pieces) copy(piece, stream);
  }

  virtual NativeEvent create_event() = 0;  // without timing; a wait for it blocks and does not spin
  virtual void destroy_event(NativeEvent event) = 0;
  virtual void record(NativeEvent event, Stream stream) = 0;
  // Records an event after all work of the context so far. Throws Error(ENOTSUP) if the driver cannot.
  virtual void record_context(NativeEvent, Context) {
    throw Error(ENOTSUP, "the driver records no event after the work of all streams");
  }
  virtual bool is_done(NativeEvent event) = 0;
  virtual void wait(NativeEvent event) = 0;
  virtual void wait_on(Stream stream, NativeEvent event) = 0;

 private:
  [[noreturn]] static void refuse_sharing() {
    throw Error(ENOTSUP, "the backend has no memory that other processes can open");
  }
};

}  // namespace arrowdevice::cuda_like
