/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "gil.h"

/* -- one at a time, without the GIL ------------------------------------------------------------------------------- */

/* In this order: who has the GIL must not wait for who has the stream. */
static void* enter(pthread_mutex_t* one_at_a_time) {
  void* const let_go = gil_let_go();
  pthread_mutex_lock(one_at_a_time);
  return let_go;
}

static void leave(pthread_mutex_t* one_at_a_time, void* let_go) {
  pthread_mutex_unlock(one_at_a_time);
  gil_take_back(let_go);
}

/* -- device streams ----------------------------------------------------------------------------------------------- */

struct device_stream {
  struct ArrowDeviceArrayStream own;
  pthread_mutex_t one_at_a_time;
};

static int device_schema(struct ArrowDeviceArrayStream* stream, struct ArrowSchema* out) {
  struct device_stream* const outgoing = stream->private_data;
  void* const let_go = enter(&outgoing->one_at_a_time);
  const int code = outgoing->own.get_schema(&outgoing->own, out);
  leave(&outgoing->one_at_a_time, let_go);
  return code;
}

static int device_next(struct ArrowDeviceArrayStream* stream, struct ArrowDeviceArray* out) {
  struct device_stream* const outgoing = stream->private_data;
  void* const let_go = enter(&outgoing->one_at_a_time);
  const int code = outgoing->own.get_next(&outgoing->own, out);
  leave(&outgoing->one_at_a_time, let_go);
  return code;
}

static const char* device_last_error(struct ArrowDeviceArrayStream* stream) {
  struct device_stream* const outgoing = stream->private_data;
  return outgoing->own.get_last_error(&outgoing->own);
}

static void release_device_stream(struct ArrowDeviceArrayStream* stream) {
  struct device_stream* const outgoing = stream->private_data;
  void* const let_go = gil_let_go();
  stream->release = NULL;
  outgoing->own.release(&outgoing->own);
  pthread_mutex_destroy(&outgoing->one_at_a_time);
  free(outgoing);
  gil_take_back(let_go);
}

int outgoing_device_stream(struct ArrowDeviceArrayStream* inout) {
  struct device_stream* const outgoing = malloc(sizeof *outgoing);
  if (outgoing == NULL) return ENOMEM;
  outgoing->own = *inout;
  pthread_mutex_init(&outgoing->one_at_a_time, NULL);
  inout->get_schema = device_schema;
  inout->get_next = device_next;
  inout->get_last_error = device_last_error;
  inout->release = release_device_stream;
  inout->private_data = outgoing;
  return 0;
}

/* -- streams on the CPU ------------------------------------------------------------------------------------------- */

struct host_stream {
  struct ArrowArrayStream own;
  pthread_mutex_t one_at_a_time;
};

static int host_schema(struct ArrowArrayStream* stream, struct ArrowSchema* out) {
  struct host_stream* const outgoing = stream->private_data;
  void* const let_go = enter(&outgoing->one_at_a_time);
  const int code = outgoing->own.get_schema(&outgoing->own, out);
  leave(&outgoing->one_at_a_time, let_go);
  return code;
}

static int host_next(struct ArrowArrayStream* stream, struct ArrowArray* out) {
  struct host_stream* const outgoing = stream->private_data;
  void* const let_go = enter(&outgoing->one_at_a_time);
  const int code = outgoing->own.get_next(&outgoing->own, out);
  leave(&outgoing->one_at_a_time, let_go);
  return code;
}

static const char* host_last_error(struct ArrowArrayStream* stream) {
  struct host_stream* const outgoing = stream->private_data;
  return outgoing->own.get_last_error(&outgoing->own);
}

static void release_host_stream(struct ArrowArrayStream* stream) {
  struct host_stream* const outgoing = stream->private_data;
  void* const let_go = gil_let_go();
  stream->release = NULL;
  outgoing->own.release(&outgoing->own);
  pthread_mutex_destroy(&outgoing->one_at_a_time);
  free(outgoing);
  gil_take_back(let_go);
}

int outgoing_host_stream(struct ArrowArrayStream* inout) {
  struct host_stream* const outgoing = malloc(sizeof *outgoing);
  if (outgoing == NULL) return ENOMEM;
  outgoing->own = *inout;
  pthread_mutex_init(&outgoing->one_at_a_time, NULL);
  inout->get_schema = host_schema;
  inout->get_next = host_next;
  inout->get_last_error = host_last_error;
  inout->release = release_host_stream;
  inout->private_data = outgoing;
  return 0;
}
