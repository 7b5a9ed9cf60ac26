/* SPDX-License-Identifier: Apache-2.0 */
#include "outgoing.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "gil.h"

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

/* The callbacks of one kind of stream, `struct Stream` of `struct Array`, and the function that puts them in place. */
#define OUTGOING(kind, Stream, Array)                                        \
  struct kind {                                                              \
    struct Stream own;                                                       \
    pthread_mutex_t one_at_a_time;                                           \
  };                                                                         \
                                                                             \
  static int kind##_schema(struct Stream* stream, struct ArrowSchema* out) { \
    struct kind* const outgoing = stream->private_data;                      \
    void* const let_go = enter(&outgoing->one_at_a_time);                    \
    const int code = outgoing->own.get_schema(&outgoing->own, out);          \
    leave(&outgoing->one_at_a_time, let_go);                                 \
    return code;                                                             \
  }                                                                          \
                                                                             \
  static int kind##_next(struct Stream* stream, struct Array* out) {         \
    struct kind* const outgoing = stream->private_data;                      \
    void* const let_go = enter(&outgoing->one_at_a_time);                    \
    const int code = outgoing->own.get_next(&outgoing->own, out);            \
    leave(&outgoing->one_at_a_time, let_go);                                 \
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
    void* const let_go = gil_let_go();                                       \
    stream->release = NULL;                                                  \
    outgoing->own.release(&outgoing->own);                                   \
    pthread_mutex_destroy(&outgoing->one_at_a_time);                         \
    free(outgoing);                                                          \
    gil_take_back(let_go);                                                   \
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
