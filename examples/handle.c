/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a column of numbers to another process, without a copy. docs/ipc.md shows it.
 *
 *   handle give SOCKET     waits for one process, gives it the column, and waits until it is released
 *   handle take SOCKET     takes the column and adds it up */
#define _GNU_SOURCE /* accept4 */
#include <arrowdevice/arrowdevice.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ROWS 1000000
#define MOST_BYTES (1 << 20)
#define MOST_DESCRIPTORS 32

/* [send] */
/* Sends the bytes and descriptors of a handle as one packet of a SOCK_SEQPACKET socket. Returns 0 on success. */
static int send_handle(int to, const struct arrowdevice_ipc_handle* handle) {
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))] = {0};
  const size_t size = (size_t)handle->n_descriptors * sizeof(int);
  struct iovec bytes = {(void*)handle->bytes, (size_t)handle->size};
  struct msghdr message = {
      .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(size)};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(header), handle->descriptors, size);
  return sendmsg(to, &message, MSG_NOSIGNAL) == handle->size ? 0 : -1;
}
/* [end] */

/* [receive] */
/* Receives such a packet and opens the handle. The descriptors close on exec. Returns 0 on success. */
static int receive_handle(int from, struct ArrowDeviceArray* out, struct ArrowSchema* type,
                          struct arrowdevice_error* error) {
  static uint8_t bytes[MOST_BYTES];
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
  struct iovec part = {bytes, sizeof bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  const ssize_t size = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
  const struct cmsghdr* header = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (header == NULL || header->cmsg_type != SCM_RIGHTS || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    *error = (struct arrowdevice_error){.code = EIO, .message = "no complete handle was received"};
    return EIO;
  }
  int descriptors[MOST_DESCRIPTORS];
  const size_t n = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  memcpy(descriptors, CMSG_DATA(header), n * sizeof(int));

  const int code = arrowdevice_array_open_ipc_handle(bytes, size, descriptors, (int64_t)n, NULL, out, type, error);
  for (size_t i = 0; i < n; ++i) close(descriptors[i]); /* the array has its own */
  return code;
}
/* [end] */

static void release_column(struct ArrowArray* array) {
  arrowdevice_buffer_free(array->private_data, NULL, (void*)array->buffers[1]);
  array->release = NULL;
}
static void release_type(struct ArrowSchema* schema) { schema->release = NULL; }

/* Returns a socket that is connected to the other process, or -1. */
static int connect_processes(const char* path, int gives) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int end = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (!gives) return connect(end, (struct sockaddr*)&address, sizeof address) == 0 ? end : -1;
  unlink(path);
  if (bind(end, (struct sockaddr*)&address, sizeof address) != 0 || listen(end, 1) != 0) return -1;
  const int peer = accept4(end, NULL, NULL, SOCK_CLOEXEC);
  close(end);
  unlink(path);
  return peer;
}

static int give(int peer, struct arrowdevice_error* error) {
  /* [give] */
  struct arrowdevice_pool_options pool_options = {.struct_size = sizeof pool_options,
                                                  .flags = ARROWDEVICE_POOL_SHAREABLE};
  struct arrowdevice_device* cpu = NULL;
  struct arrowdevice_pool* pool = NULL;
  void* memory = NULL;
  int code = arrowdevice_device_find_by_name("cpu", &cpu, error);
  if (code == 0) code = arrowdevice_pool_create(cpu, &pool_options, &pool, error);
  if (code == 0) code = arrowdevice_buffer_allocate(cpu, pool, NULL, ROWS * sizeof(int64_t), &memory, error);
  if (code != 0) return code;
  int64_t* numbers = memory;
  for (int64_t i = 0; i < ROWS; ++i) numbers[i] = i;

  const void* buffers[] = {NULL, numbers}; /* no validity bitmap: no nulls */
  struct ArrowSchema type = {.format = "l", .name = "number", .release = release_type};
  struct ArrowArray column = {
      .length = ROWS, .n_buffers = 2, .buffers = buffers, .release = release_column, .private_data = cpu};
  struct ArrowDeviceArray array;
  struct arrowdevice_ipc_handle handle;
  code = arrowdevice_array_from_host(&column, &array, error);
  if (code == 0) code = arrowdevice_array_get_ipc_handle(&array, &type, NULL, &handle, error);
  if (code != 0) return code;
  printf("%lld bytes were copied\n", (long long)handle.copied_bytes);
  code = send_handle(peer, &handle);

  /* The memory stays in use until the other process has released its array, or has ended. */
  arrowdevice_ipc_handle_release(&handle);
  arrowdevice_array_release(&array);
  /* [end] */
  struct arrowdevice_pool_stats stats = {.struct_size = sizeof stats};
  while (arrowdevice_pool_get_stats(pool, &stats, error) == 0 && stats.used_bytes > 0) usleep(1000);
  printf("the memory is free again\n");
  arrowdevice_pool_destroy(pool);
  return code;
}

static int take(int peer, struct arrowdevice_error* error) {
  /* [take] */
  struct ArrowDeviceArray array;
  struct ArrowSchema type;
  const int code = receive_handle(peer, &array, &type, error);
  if (code != 0) return code;
  int64_t sum = 0;
  const int64_t* numbers = array.array.buffers[1];
  for (int64_t i = 0; i < array.array.length; ++i) sum += numbers[array.array.offset + i];
  printf("the sum of \"%s\" is %lld\n", type.name, (long long)sum);
  arrowdevice_array_release(&array);
  arrowdevice_schema_release(&type);
  /* [end] */
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 3 || (strcmp(argv[1], "give") != 0 && strcmp(argv[1], "take") != 0)) {
    fprintf(stderr, "usage: handle give|take SOCKET\n");
    return 2;
  }
  const int gives = strcmp(argv[1], "give") == 0;
  const int peer = connect_processes(argv[2], gives);
  if (peer < 0) {
    perror(argv[2]);
    return 1;
  }
  struct arrowdevice_error error = {0};
  const int code = gives ? give(peer, &error) : take(peer, &error);
  close(peer);
  if (code != 0) fprintf(stderr, "handle: %s\n", error.message);
  return code != 0;
}
