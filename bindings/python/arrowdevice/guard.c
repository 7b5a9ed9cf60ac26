/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* clock_gettime() in C11 */
#include "guard.h"

#include <Python.h>
#include <arrowdevice/arrowdevice.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t call_ended = PTHREAD_COND_INITIALIZER;
static int64_t inside;      /* atomic */
static int closed;          /* atomic, set under the mutex */
static pthread_t closed_by; /* set before `closed` */

/* A thread first counts itself, and then looks if the guard is closed. guard_close() does both in the other order, so
 * that one of them sees the other. */
int guard_enter(void) {
  __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&closed, __ATOMIC_SEQ_CST)) return 1;
  if (pthread_equal(closed_by, pthread_self()) && Py_IsInitialized()) return 1;
  guard_leave();
  return 0;
}

void guard_leave(void) {
  int64_t before = __atomic_load_n(&inside, __ATOMIC_RELAXED);
  do {
    if (before <= 0) return; /* the process was forked during the call, and its child counts anew */
  } while (!__atomic_compare_exchange_n(&inside, &before, before - 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  if (before != 1 || !__atomic_load_n(&closed, __ATOMIC_SEQ_CST)) return;
  pthread_mutex_lock(&mutex);
  pthread_cond_broadcast(&call_ended);
  pthread_mutex_unlock(&mutex);
}

/* A child of a fork has one thread, so that no call runs and no other thread holds the mutex. */
static void before_fork(void) { pthread_mutex_lock(&mutex); }
static void after_fork_in_parent(void) { pthread_mutex_unlock(&mutex); }
static void after_fork_in_child(void) {
  inside = 0;
  pthread_mutex_unlock(&mutex);
}
__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

int64_t guard_close(int64_t timeout_ns) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += (time_t)(timeout_ns / 1000000000);
  end.tv_nsec += (long)(timeout_ns % 1000000000);
  if (end.tv_nsec >= 1000000000) {
    ++end.tv_sec;
    end.tv_nsec -= 1000000000;
  }
  pthread_mutex_lock(&mutex);
  closed_by = pthread_self();
  __atomic_store_n(&closed, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&inside, __ATOMIC_SEQ_CST) != 0 && pthread_cond_timedwait(&call_ended, &mutex, &end) == 0) {
  }
  const int64_t left = __atomic_load_n(&inside, __ATOMIC_SEQ_CST);
  pthread_mutex_unlock(&mutex);
  return left;
}

/* -- arrays ------------------------------------------------------------------------------------------------------- */

/* Releases the producer's struct. The producer owns the children and releases them too. */
static void release_guarded(struct ArrowArray* array) {
  struct ArrowArray* const foreign = array->private_data;
  array->release = NULL;
  if (!guard_enter()) return;
  /* A child that was moved out has a NULL release in the structs that `children` points to. */
  foreign->release(foreign);
  guard_leave();
  free(foreign);
}

int guard_array(struct ArrowArray* inout) {
  struct ArrowArray* const foreign = malloc(sizeof *foreign);
  if (foreign == NULL) return ENOMEM;
  *foreign = *inout;
  inout->release = release_guarded;
  inout->private_data = foreign;
  return 0;
}

/* -- streams ------------------------------------------------------------------------------------------------------ */

static const char kEnding[] = "the Python interpreter is ending";

struct guarded_stream {
  struct ArrowDeviceArrayStream foreign;
  const char* own_error; /* NULL if the last error is the producer's */
  struct arrowdevice_error error;
};

/* Returns a copy of the schema. Releases the producer's schema here, inside of the guard. */
static int stream_schema(struct ArrowDeviceArrayStream* stream, struct ArrowSchema* out) {
  struct guarded_stream* const guarded = stream->private_data;
  struct ArrowSchema foreign = {.release = NULL};
  out->release = NULL;
  if (!guard_enter()) {
    guarded->own_error = kEnding;
    return ECANCELED;
  }
  guarded->own_error = NULL;
  int code = guarded->foreign.get_schema(&guarded->foreign, &foreign);
  if (code == 0) {
    guarded->error.message[0] = '\0';
    code = arrowdevice_schema_copy(&foreign, out, &guarded->error);
    if (code != 0) guarded->own_error = guarded->error.message;
    if (foreign.release != NULL) foreign.release(&foreign);
  }
  guard_leave();
  return code;
}

static int stream_next(struct ArrowDeviceArrayStream* stream, struct ArrowDeviceArray* out) {
  struct guarded_stream* const guarded = stream->private_data;
  out->array.release = NULL;
  if (!guard_enter()) {
    guarded->own_error = kEnding;
    return ECANCELED;
  }
  guarded->own_error = NULL;
  int code = guarded->foreign.get_next(&guarded->foreign, out);
  if (code == 0 && out->array.release != NULL) {
    code = guard_array(&out->array);
    if (code != 0) {
      out->array.release(&out->array);
      guarded->own_error = "no memory for an array of the stream";
    }
  }
  guard_leave();
  return code;
}

static const char* stream_last_error(struct ArrowDeviceArrayStream* stream) {
  struct guarded_stream* const guarded = stream->private_data;
  if (guarded->own_error != NULL) return guarded->own_error;
  if (!guard_enter()) return kEnding;
  const char* const text = guarded->foreign.get_last_error(&guarded->foreign);
  guard_leave();
  return text;
}

static void release_stream(struct ArrowDeviceArrayStream* stream) {
  struct guarded_stream* const guarded = stream->private_data;
  stream->release = NULL;
  if (!guard_enter()) return;
  guarded->foreign.release(&guarded->foreign);
  guard_leave();
  free(guarded);
}

int guard_stream(struct ArrowDeviceArrayStream* inout) {
  struct guarded_stream* const guarded = malloc(sizeof *guarded);
  if (guarded == NULL) return ENOMEM;
  guarded->foreign = *inout;
  guarded->own_error = NULL;
  inout->get_schema = stream_schema;
  inout->get_next = stream_next;
  inout->get_last_error = stream_last_error;
  inout->release = release_stream;
  inout->private_data = guarded;
  return 0;
}
