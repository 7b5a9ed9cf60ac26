/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file link.h
 * Streams between processes of the same machine. A server offers streams under names. Other processes
 * connect to it and get ordinary streams.
 *
 *     // process 1                                        // process 2
 *     arrowdevice_server_create("unix:@prices", ...);     arrowdevice_stream_connect("unix:@prices?name=bids", ...);
 *     arrowdevice_server_add_stream(server, "bids", ...); stream.get_next(&stream, &array);
 *
 * **Addresses.**
 * - `unix:/PATH` is a socket with a file. Beside it is a lock file `/PATH.lock`. The server removes
 *   both. If a server was killed, the next one replaces its files.
 * - `unix:@NAME` is a socket without a file, in the network namespace of the process.
 * - `fd:NUMBER` is a connected stream socket that the program made, for one client. The library
 *   duplicates it.
 * - A client adds `?name=NAME` for the stream. Without a name it gets the only stream of the server.
 * - `%XX` in a path or a name is the byte with that hexadecimal number.
 *
 * **Memory.** Batches in memory of a pool with ARROWDEVICE_POOL_SHAREABLE are sent without a copy.
 * Others are copied once, into such a pool. arrowdevice_server_get_stats() counts the copied bytes.
 * `ipc.h` says what a client can see and do.
 *
 * **Lifetime.** A client tells the server when it has released a batch. The end of a connection
 * releases the batches that its client had, also after SIGKILL. If the server's process ends first, the
 * batches that a client has stay valid, and the stream fails with ECONNRESET. A forked child of a client
 * may read a batch until the parent releases it.
 *
 * **Users.** Both ends refuse a process of another user with EACCES, unless an option allows it. A
 * client of another user gets copies, in memory that no other client sees. `fd:` addresses are not
 * checked.
 *
 * **Threads.** A server has one thread, and two for each client. They call the program's streams and
 * sources, and release the arrays that clients have released. A client has no thread.
 */
#ifndef ARROWDEVICE_LINK_H
#define ARROWDEVICE_LINK_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct arrowdevice_server; /* a server; opaque */

/* Flags of arrowdevice_server_options and arrowdevice_connect_options */
#define ARROWDEVICE_LINK_ANY_USER 1 /* the other process may be of any user */
#define ARROWDEVICE_LINK_ISOLATED 2 /* server: each client gets copies, in memory that no other client sees */

/** Options of a server. */
struct arrowdevice_server_options {
  uint32_t struct_size;
  uint32_t flags; /* ARROWDEVICE_LINK_* */
  /**
   * With ARROWDEVICE_COPY_NEVER, arrowdevice_server_add_arrays() fails if it needs a copy, and a batch
   * that needs a copy ends its stream with ENOTSUP. ARROWDEVICE_COPY_ALWAYS is refused.
   */
  uint32_t copy_flags;
  int32_t max_clients; /* at once; 0 means 64 */
  /**
   * Limit of the bytes of copies that one connection has in use on one device. It applies to clients
   * of another user, and to all clients of an isolated server. Beyond it the client's stream fails
   * with ENOMEM. 0 means 1 GiB.
   */
  int64_t max_client_bytes;
};

/** Options of a client. */
struct arrowdevice_connect_options {
  uint32_t struct_size;
  uint32_t flags; /* ARROWDEVICE_LINK_ANY_USER */
  /**
   * - ARROWDEVICE_COPY_ALWAYS: each batch is copied into memory that no other process can open.
   * - ARROWDEVICE_COPY_NEVER: a batch that needs a copy ends the stream with ENOTSUP.
   */
  uint32_t copy_flags;
  int32_t max_batches; /* that the server sends before the consumer takes the first; 0 means 64 */
  int64_t max_bytes;   /* of these batches, but the server always sends one; 0 means 64 MiB */
  /**
   * Time-out in nanoseconds of the connection, and of each `get_next`. ARROWDEVICE_NO_TIMEOUT waits
   * without limit. With ARROWDEVICE_POLL a connection always fails, because it has to wait.
   */
  int64_t timeout_ns;
};

/** Numbers of a server, all since it was created except `clients`. */
struct arrowdevice_server_stats {
  uint32_t struct_size; /* of the caller's struct; the library fills no more */
  uint32_t reserved;
  int64_t clients;      /* connections now */
  int64_t batches;      /* sent */
  int64_t bytes;        /* of these batches */
  int64_t copied_bytes; /* copied by the server: for a client, or once by arrowdevice_server_add_arrays() */
};

/**
 * Opens a stream for a client of a server. A thread of the library calls it.
 *
 * @return 0, or an errno value. `error` may have a text for the client.
 */
typedef int (*arrowdevice_open_stream)(void* user, struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

/**
 * Makes a server, which accepts clients from now on.
 *
 * @param uri      Address, without a name.
 * @param options  Options, or NULL for the defaults.
 * @param out      Receives the server. The caller destroys it.
 *
 * Errors:
 * - EINVAL if the address or an option is not valid.
 * - ENOTSUP for an address of another form.
 * - EADDRINUSE if a server has the address. EEXIST if the path is a file that is no socket.
 * - The errors of `socket`, `bind` and `open`.
 * - The general errors.
 * Thread-safety: free. Does not block.
 */
ARROWDEVICE_API int arrowdevice_server_create(const char* uri, const struct arrowdevice_server_options* options,
                                              struct arrowdevice_server** out, struct arrowdevice_error* error);

/**
 * Offers a stream, which the first client gets. Every later client gets EBUSY.
 *
 * @param moved  The stream. On success the server owns it. A thread of the server uses it.
 *
 * Errors:
 * - EINVAL if the name is empty or the stream is released. EEXIST if the server has a stream of that name.
 * - The general errors.
 * Thread-safety: free. Does not block.
 */
ARROWDEVICE_API int arrowdevice_server_add_stream(struct arrowdevice_server* server, const char* name,
                                                  struct ArrowDeviceArrayStream* moved,
                                                  struct arrowdevice_error* error);

/**
 * Offers arrays as a stream, which every client gets from its beginning.
 *
 * Arrays that are not in shareable memory are copied once, by this call.
 *
 * @param schema  Type of the arrays.
 * @param inout   `n` arrays of one device type, which stay valid. They become shared owners, as with
 *                arrowdevice_array_share().
 * @param n       Number of arrays. It may be 0.
 *
 * Errors:
 * - EINVAL if the name is empty, `n` is negative, or an array does not fit. EEXIST if the server has
 *   a stream of that name.
 * - ENOTSUP if the arrays cannot be shared: the device has no shareable memory, a copy is necessary
 *   and ruled out, or the schema has something that Arrow's IPC format cannot express.
 * - All errors of arrowdevice_array_copy().
 * Thread-safety: per object. Blocks until the copies are complete.
 */
ARROWDEVICE_API int arrowdevice_server_add_arrays(struct arrowdevice_server* server, const char* name,
                                                  const struct ArrowSchema* schema, struct ArrowDeviceArray* inout,
                                                  int64_t n, struct arrowdevice_error* error);

/**
 * Offers a source, which opens a stream for each client.
 *
 * @param open          Opens a stream. Several threads may call it at once.
 * @param user          Argument of `open`.
 * @param user_release  Releases `user` after the last call, or NULL. It is called by
 *                      arrowdevice_server_remove(), arrowdevice_server_destroy() or a thread of the server.
 *                      After a failure of this function it is not called.
 *
 * Errors: as arrowdevice_server_add_stream().
 * Thread-safety: free. Does not block.
 */
ARROWDEVICE_API int arrowdevice_server_add_source(struct arrowdevice_server* server, const char* name,
                                                  arrowdevice_open_stream open, void* user,
                                                  void (*user_release)(void* user), struct arrowdevice_error* error);

/**
 * Removes a stream, arrays or a source. Clients that have it already keep it.
 *
 * Errors: ENOENT if the server has nothing of that name, and the general errors.
 * Thread-safety: free. Does not block.
 */
ARROWDEVICE_API int arrowdevice_server_remove(struct arrowdevice_server* server, const char* name,
                                              struct arrowdevice_error* error);

/**
 * Gets the numbers of a server.
 *
 * Errors: the general errors.
 * Thread-safety: free. Does not block.
 */
ARROWDEVICE_API int arrowdevice_server_get_stats(const struct arrowdevice_server* server,
                                                 struct arrowdevice_server_stats* out, struct arrowdevice_error* error);

/**
 * Destroys a server. A client first gets the batches that were sent. Then its stream fails with
 * ECANCELED, or with ECONNRESET if the socket had no room for that error. Batches that clients have stay
 * valid, and the arrays of the server stay in use until the clients release them.
 *
 * @param server  The server. If it is NULL, the call has no effect.
 *
 * In a forked child the call has no effect on the server, which is the parent's.
 * Thread-safety: per object. Waits for calls of the program's streams and sources that are running. Streams
 * of the library are cancelled first.
 */
ARROWDEVICE_API void arrowdevice_server_destroy(struct arrowdevice_server* server);

/**
 * Connects to a server and gets one of its streams. For an async stream, the result is an input of
 * arrowdevice_async_produce().
 *
 * @param uri      Address, perhaps with a name.
 * @param to       Device of the batches. With NULL they are on the device where the server has them. If
 *                 this process has no device of that type, the server copies them to the CPU.
 *                 - The CPU: the server copies batches of other devices to the CPU.
 *                 - Another device: the batches are put there, as by arrowdevice_stream_to_device().
 *                 If this process has devices of that type, but not the one of a batch, `get_next` fails
 *                 with ENODEV.
 * @param options  Options, or NULL for the defaults.
 * @param out      Receives the stream. Its batches are ready. Memory of the CPU is mapped for reading
 *                 only. An error of `get_next` is final:
 *                 - the error of the server's stream, with its text
 *                 - ECANCELED if the server was destroyed, or the stream was cancelled
 *                 - ECONNRESET if the server's process has ended, or was destroyed and the socket had
 *                   no room for that error
 *                 - ETIMEDOUT if no batch comes within the time-out
 *                 - ENOTSUP if a copy is necessary and ruled out
 *                 - ENODEV if this process does not see the device of a batch, or is a forked child
 *                 - EINVAL if a message of the server is not valid
 *                 - EMFILE or ENOMEM if this process has no room for the memory
 *                 - ENOMEM if the server has no memory for a copy
 *
 * Errors:
 * - EINVAL if the address or an option is not valid. ENOTSUP for an address of another form.
 * - ECONNREFUSED or ENOENT if there is no server at the address.
 * - ENOENT if the server has no stream of that name. The message has the names. EBUSY if another
 *   client has the stream, or if the server has too many clients.
 * - EACCES if the server is of another user, or refuses this one.
 * - ENODEV or ENOTSUP if a copy is necessary and ruled out.
 * - ECONNRESET if the server ends meanwhile. ETIMEDOUT if the time-out ends.
 * - The errors of the server's stream, and the general errors.
 * Thread-safety: free. Blocks until the server has opened its stream.
 */
ARROWDEVICE_API int arrowdevice_stream_connect(const char* uri, struct arrowdevice_device* to,
                                               const struct arrowdevice_connect_options* options,
                                               struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ARROWDEVICE_LINK_H */
