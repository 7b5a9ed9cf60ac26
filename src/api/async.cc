// SPDX-License-Identifier: Apache-2.0
// The C functions for async device streams.
#include "stream/async.h"

#include "api/handles.h"
#include "base/sized_struct.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::device_of;
using api::required;

namespace {

// Struct size in bytes in programs of the first release.
constexpr uint32_t kFirstAsyncOptionsSize = 72;
constexpr int32_t kDefaultAsyncDepth = 4;

stream::AsyncOptions read(const arrowdevice_async_options* given) {
  const auto options = read_sized(given, kFirstAsyncOptionsSize, "options");
  if (options.flags != 0) throw Error(EINVAL, format("options.flags has unknown bits 0x%x", options.flags));
  if (options.depth < 0) throw Error(EINVAL, format("options.depth is %d", options.depth));
  if (options.upstream_layout < ARROWDEVICE_ASYNC_LAYOUT_UNKNOWN ||
      options.upstream_layout > ARROWDEVICE_ASYNC_LAYOUT_48_BYTES) {
    throw Error(EINVAL, format("invalid options.upstream_layout %d (expected 0 to 2)", options.upstream_layout));
  }
  stream::AsyncOptions read;
  read.depth = options.depth == 0 ? kDefaultAsyncDepth : options.depth;
  read.upstream_layout = options.upstream_layout;
  read.copy = api::read_copy_flags(options.copy_flags, "options.copy_flags");
  read.copy.pool = api::share(options.pool);
  read.copy.source = api::from_c(options.source_device);
  if (options.queue != nullptr) read.queue = options.queue->queue;
  read.executor =
      options.submit != nullptr ? stream::programs_executor(options.submit, options.user) : stream::own_thread();
  read.get_metadata = options.get_metadata;
  read.user = options.user;
  return read;
}

ArrowAsyncDeviceStreamHandler& complete(ArrowAsyncDeviceStreamHandler* handler, const char* name) {
  auto& given = required(handler, name);
  if (given.on_schema == nullptr || given.on_next_task == nullptr || given.on_error == nullptr ||
      given.release == nullptr) {
    throw Error(EINVAL, std::string(name) + " lacks a callback, or is released");
  }
  return given;
}

}  // namespace

extern "C" {

ARROWDEVICE_API int arrowdevice_async_produce(ArrowDeviceArrayStream* moved, ArrowAsyncDeviceStreamHandler* handler,
                                              const arrowdevice_async_options* options, arrowdevice_error* error) {
  return guarded(error, [&] {
    if (required(moved, "moved").release == nullptr) throw Error(EINVAL, "the stream is released");
    stream::produce(*moved, complete(handler, "handler"), read(options));
  });
}

ARROWDEVICE_API int arrowdevice_async_collect(ArrowDeviceType device_type, const arrowdevice_async_options* options,
                                              ArrowAsyncDeviceStreamHandler** out_handler, ArrowDeviceArrayStream* out,
                                              arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out").release = nullptr;
    api::prepare(out_handler);
    if (device_type <= 0) throw Error(EINVAL, format("%d is not a device type", device_type));
    *out_handler = stream::collect(device_type, read(options), out);
  });
}

ARROWDEVICE_API int arrowdevice_async_to_device(ArrowAsyncDeviceStreamHandler* downstream, arrowdevice_device* to,
                                                const arrowdevice_async_options* options,
                                                ArrowAsyncDeviceStreamHandler** out_upstream,
                                                arrowdevice_error* error) {
  return guarded(error, [&] {
    api::prepare(out_upstream);
    *out_upstream = stream::to_device(complete(downstream, "downstream"), device_of(to), read(options));
  });
}

}  // extern "C"
