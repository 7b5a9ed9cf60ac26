// SPDX-License-Identifier: Apache-2.0
// The C functions for languages that cannot call C function pointers.
#include "api/handles.h"
#include "schema/copy.h"
#include "stream/upstream.h"

using namespace arrowdevice;  // NOLINT: the C API is this library's own
using api::required;

namespace {

ArrowDeviceArrayStream& alive(ArrowDeviceArrayStream* stream) {
  if (required(stream, "stream").release == nullptr) throw Error(EINVAL, "the stream is released");
  return *stream;
}

}  // namespace

extern "C" {

ARROWDEVICE_API int arrowdevice_schema_copy(const ArrowSchema* schema, ArrowSchema* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    required(out, "out");
    if (out == schema) throw Error(EINVAL, "out is also an input");
    out->release = nullptr;
    schema::copy(required(schema, "schema"), out);
  });
}

ARROWDEVICE_API void arrowdevice_schema_release(ArrowSchema* schema) {
  if (schema != nullptr && schema->release != nullptr) schema->release(schema);
}

ARROWDEVICE_API void arrowdevice_host_array_release(ArrowArray* array) {
  if (array != nullptr && array->release != nullptr) array->release(array);
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

ARROWDEVICE_API void arrowdevice_stream_release(ArrowDeviceArrayStream* stream) {
  if (stream != nullptr && stream->release != nullptr) stream->release(stream);
}

}  // extern "C"
