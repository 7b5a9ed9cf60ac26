/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "gil.h"

/* Releases the GIL first, because a thread that holds the GIL must not wait for the mutex. */
static void* enter(pthread_mutex_t* one_at_a_time) {
  void* const state = gil_release();
  pthread_mutex_lock(one_at_a_time);
  return state;
}

static void leave(pthread_mutex_t* one_at_a_time, void* state) {
  pthread_mutex_unlock(one_at_a_time);
  gil_restore(state);
}

/* Defines the callbacks of a stream, `struct Stream` of `struct Array`, and the function that installs them. */
#define OUTGOING(kind, Stream, Array)                                        \
  struct kind {                                                              \
    struct Stream own;                                                       \
    pthread_mutex_t one_at_a_time;                                           \
  };                                                                         \
                                                                             \
  static int kind##_schema(struct Stream* stream, struct ArrowSchema* out) { \
    struct kind* const outgoing = stream->private_data;                      \
    void* const state = enter(&outgoing->one_at_a_time);                     \
    const int code = outgoing->own.get_schema(&outgoing->own, out);          \
    leave(&outgoing->one_at_a_time, state);                                  \
    return code;                                                             \
  }                                                                          \
                                                                             \
  static int kind##_next(struct Stream* stream, struct Array* out) {         \
    struct kind* const outgoing = stream->private_data;                      \
    void* const state = enter(&outgoing->one_at_a_time);                     \
    const int code = outgoing->own.get_next(&outgoing->own, out);            \
    leave(&outgoing->one_at_a_time, state);                                  \
    return code;                                                             \
  }                                                                          \
                                                                             \
  static const char* kind##_last_error(struct Stream* stream) {              \
    struct kind* const outgoing = stream->private_data;                      \
    return outgoing->own.get_last_error(&outgoing->own);                     \
  }                                                                          \
                                                                             \
  static void kind##_release(struct Stream* stream) {                        \
    struct kind* const outgoing = stream->private_data;                      \
    void* const state = gil_release();                                       \
    stream->release = NULL;                                                  \
    outgoing->own.release(&outgoing->own);                                   \
    pthread_mutex_destroy(&outgoing->one_at_a_time);                         \
    free(outgoing);                                                          \
    gil_restore(state);                                                      \
  }                                                                          \
                                                                             \
  int outgoing_##kind(struct Stream* inout) {                                \
    struct kind* const outgoing = malloc(sizeof *outgoing);                  \
    if (outgoing == NULL) return ENOMEM;                                     \
    outgoing->own = *inout;                                                  \
    pthread_mutex_init(&outgoing->one_at_a_time, NULL);                      \
    inout->get_schema = kind##_schema;                                       \
    inout->get_next = kind##_next;                                           \
    inout->get_last_error = kind##_last_error;                               \
    inout->release = kind##_release;                                         \
    inout->private_data = outgoing;                                          \
    return 0;                                                                \
  }

OUTGOING(device_stream, ArrowDeviceArrayStream, ArrowDeviceArray)
OUTGOING(host_stream, ArrowArrayStream, ArrowArray)
