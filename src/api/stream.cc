// SPDX-License-Identifier: Apache-2.0
// The C functions for device streams.
#include "api/handles.h"
#include "base/sized_struct.h"
#include "stream/device_stream.h"
#include "stream/sources.h"
#include "stream/to_device.h"
#include "stream/upstream.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::device_of;
using api::required;

namespace {

// Struct size in bytes in programs of the first release.
constexpr uint32_t kFirstStreamOptionsSize = 48;
constexpr int32_t kDefaultStreamDepth = 2;
constexpr const char* kForeign = "the stream belongs to another library";

// Throws EINVAL if `out` is the input too. Marks the out struct as released, so that it is released after a failure.
template <typename In, typename Out>
void prepare_stream(In* moved, Out* out) {
  required(out, "out");
  if (static_cast<void*>(moved) == out) throw Error(EINVAL, "out is also an input");
  out->release = nullptr;
}

template <typename Stream>
Stream& alive(Stream* stream) {
  if (required(stream, "stream").release == nullptr) throw Error(EINVAL, "the stream is released");
  return *stream;
}

stream::MoveOptions read(const arrowdevice_stream_options* given) {
  const auto options = read_sized(given, kFirstStreamOptionsSize, "options");
  if (const uint32_t unknown = options.flags & ~uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}; unknown != 0) {
    throw Error(EINVAL, format("options.flags has unknown bits 0x%x", unknown));
  }
  if (options.depth < 0) throw Error(EINVAL, format("options.depth is %d", options.depth));
  stream::MoveOptions read;
  read.copy = api::read_copy_flags(options.copy_flags, "options.copy_flags");
  read.copy.pool = api::share(options.pool);
  read.copy.source = api::from_c(options.source_device);
  if (options.queue != nullptr) read.queue = options.queue->queue;
  read.timeout_ns = options.timeout_ns;
  read.depth = options.depth == 0 ? kDefaultStreamDepth : options.depth;
  read.reads_ahead = (options.flags & ARROWDEVICE_STREAM_READ_AHEAD) != 0;
  return read;
}

}  // namespace

extern "C" {

ARROWDEVICE_API int arrowdevice_stream_from_arrays(ArrowSchema* moved, ArrowDeviceArray* moved_arrays, int64_t n,
                                                   ArrowDeviceType device_type, ArrowDeviceArrayStream* out,
                                                   arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare_stream(moved, out);
    required(moved, "moved");
    if (n < 0) throw Error(EINVAL, format("n is %lld", static_cast<long long>(n)));
    if (n > 0) required(moved_arrays, "moved_arrays");
    stream::from_arrays(*moved, {moved_arrays, static_cast<size_t>(n)}, device_type, out);
  });
}

ARROWDEVICE_API int arrowdevice_stream_from_host(ArrowArrayStream* moved, ArrowDeviceArrayStream* out,
                                                 arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare_stream(moved, out);
    stream::from_host(alive(moved), out);
  });
}

ARROWDEVICE_API int arrowdevice_stream_to_host(ArrowDeviceArrayStream* moved, const arrowdevice_stream_options* options,
                                               ArrowArrayStream* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare_stream(moved, out);
    stream::to_host(alive(moved), read(options), out);
  });
}

ARROWDEVICE_API int arrowdevice_stream_to_device(ArrowDeviceArrayStream* moved, arrowdevice_device* to,
                                                 const arrowdevice_stream_options* options, ArrowDeviceArrayStream* out,
                                                 arrowdevice_error* error) {
  return guarded(error, [&] {
    prepare_stream(moved, out);
    stream::to_device(alive(moved), device_of(to), read(options), out);
  });
}

ARROWDEVICE_API int arrowdevice_stream_get_schema(ArrowDeviceArrayStream* stream, ArrowSchema* out,
                                                  arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out").release = nullptr;
    stream::get_schema(alive(stream), out);
  });
}

ARROWDEVICE_API int arrowdevice_stream_get_next(ArrowDeviceArrayStream* stream, ArrowDeviceArray* out,
                                                arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out").array.release = nullptr;
    stream::get_next(alive(stream), out);
  });
}

ARROWDEVICE_API int arrowdevice_stream_cancel(ArrowDeviceArrayStream* stream, arrowdevice_error* error) {
  return guarded(error, [&] {
    if (!stream::cancel(alive(stream))) throw Error(EINVAL, kForeign);
  });
}

ARROWDEVICE_API int arrowdevice_stream_get_metadata(ArrowDeviceArrayStream* stream, int32_t kind, const char** out,
                                                    arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out);
    if (kind != ARROWDEVICE_METADATA_STREAM && kind != ARROWDEVICE_METADATA_ITEM) {
      throw Error(EINVAL, format("invalid kind %d of metadata (expected 0 or 1)", kind));
    }
    if (!stream::is_own(alive(stream))) throw Error(EINVAL, kForeign);
    if (kind == ARROWDEVICE_METADATA_STREAM) {
      ArrowSchema schema;
      stream::get_schema(*stream, &schema);  // the metadata comes with the schema
      schema.release(&schema);
    }
    *out = stream::metadata_of(*stream, kind);
  });
}

ARROWDEVICE_API void arrowdevice_stream_release(ArrowDeviceArrayStream* stream) {
  if (stream != nullptr && stream->release != nullptr) stream->release(stream);
}

}  // extern "C"
