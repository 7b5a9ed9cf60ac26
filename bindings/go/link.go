// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
// #include <stdint.h>
// #include <stdlib.h>
// #include <string.h>
//
// extern int arrowdeviceGoOpenStream(void*, struct ArrowDeviceArrayStream*, struct arrowdevice_error*);
// extern void arrowdeviceGoReleaseSource(void*);
//
// static inline int has_ended(void* ended) {
//   return __atomic_load_n((int32_t*)ended, __ATOMIC_ACQUIRE);
// }
//
// // The wait of the calling thread ends soon after another thread has set `ended`.
// static inline int connect_until(const char* uri, struct arrowdevice_device* to,
//                                 const struct arrowdevice_connect_options* options, int32_t* ended,
//                                 struct ArrowDeviceArrayStream* out, struct arrowdevice_error* error) {
//   arrowdevice_interrupt_set_check(has_ended, ended);
//   int code = arrowdevice_stream_connect(uri, to, options, out, error);
//   arrowdevice_interrupt_set_check(NULL, NULL);
//   return code;
// }
import "C"

import (
	"context"
	"fmt"
	"runtime/cgo"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// Server offers streams to other processes of the machine, under names. Connect gets one of them.
// Batches in memory of a pool with PoolOptions.Shareable are sent without a copy. Others are copied
// once. Any goroutine may call the methods of a Server. The program ends it with Close. The garbage
// collector ends a Server that the program forgets.
type Server struct {
	h *handle[serverResource]
}

type serverResource struct {
	c         *C.struct_arrowdevice_server
	destroyed chan struct{}
}

// free destroys the server on a goroutine of its own. That waits for sources, and the last user of
// the server may be a source.
func (s serverResource) free() {
	go func() {
		C.arrowdevice_server_destroy(s.c)
		close(s.destroyed)
	}()
}

// ServerOptions configure a server.
type ServerOptions struct {
	AnyUser    bool // clients may be of any user; those of another user get copies in memory that no other client sees
	Isolated   bool // each client gets such copies
	Never      bool // a batch that needs a copy ends its stream with ENOTSUP
	MaxClients int  // at once; 0 means 64
	// MaxClientBytes limits the bytes of copies that one connection has in use on one device. It applies to clients of
	// another user, and to all clients of an isolated server. Beyond it the client's stream fails with ENOMEM. 0 means
	// 1 GiB.
	MaxClientBytes int64
}

// ServerStats are statistics of a server, all since it was made except Clients.
type ServerStats struct {
	Clients     int64 // connections now
	Batches     int64 // batches that were sent
	Bytes       int64 // bytes of these batches
	CopiedBytes int64 // copied by the server: for a client, or once by AddArrays
}

// NewServer makes a server, which accepts clients from now on. The address has one of these forms:
//
//   - unix:/PATH is a socket with a file.
//   - unix:@NAME is a socket without a file, in the network namespace of the process.
//   - fd:NUMBER is a connected stream socket that the program made, for one client. The library
//     duplicates it.
//
// It fails with EADDRINUSE if a server has the address, and with ENOTSUP for an address of another
// form. url.PathEscape escapes a path or a name.
func NewServer(uri string, options ServerOptions) (*Server, error) {
	const function = "server_create"
	c := C.struct_arrowdevice_server_options{struct_size: C.sizeof_struct_arrowdevice_server_options}
	if options.AnyUser {
		c.flags |= C.ARROWDEVICE_LINK_ANY_USER
	}
	if options.Isolated {
		c.flags |= C.ARROWDEVICE_LINK_ISOLATED
	}
	c.copy_flags = (&CopyOptions{Never: options.Never}).flags()
	c.max_client_bytes = C.int64_t(options.MaxClientBytes)
	var err error
	if c.max_clients, err = int32Of(function, "options.MaxClients", options.MaxClients); err != nil {
		return nil, err
	}
	address, free, err := cString(function, "address", uri)
	if err != nil {
		return nil, err
	}
	defer free()
	var made *C.struct_arrowdevice_server
	var e C.struct_arrowdevice_error
	if code := C.arrowdevice_server_create(address, &c, &made, &e); code != 0 {
		return nil, result(function, code, &e)
	}
	return &Server{newHandle("server", serverResource{made, make(chan struct{})})}, nil
}

// AddStream offers a stream, which the first client gets. Every later client gets EBUSY. If
// AddStream succeeds, it releases the stream, and a thread of the library uses it. If it fails, the
// stream is unchanged. It fails with EEXIST if the server has the name, and with EBUSY if another
// goroutine uses the stream. The server does not keep wrapped queues of the stream reachable. When
// the program releases such a queue, the stream continues on a queue of the library.
func (s *Server) AddStream(name string, moved *Stream) error {
	const function = "server_add_stream"
	stream, leave, err := moved.handle().take(function)
	if err != nil {
		return err
	}
	defer leave()
	err = s.call(function, name, func(server *C.struct_arrowdevice_server, name *C.char, e *C.struct_arrowdevice_error) C.int {
		return C.arrowdevice_server_add_stream(server, name, stream.c, e)
	})
	if err == nil {
		moved.Release()
	}
	return err
}

// AddArrays offers arrays on devices of one type as a stream, which every client gets from its
// beginning. The arrays stay with the caller. Arrays that are not in shareable memory are copied
// once, by this call. It fails with EEXIST if the server has the name, and with EINVAL if an array
// differs from the stream's type. If the context ends, the call returns. The library then finishes
// its copies and removes the name.
func (s *Server) AddArrays(ctx context.Context, name string, schema *arrow.Schema, arrays ...*Array) error {
	const function = "server_add_arrays"
	if err := contextError(ctx, function); err != nil {
		return err
	}
	type_, shared, free, err := shareAll(ctx, function, schema, arrays)
	if err != nil {
		return err
	}
	_, err = started(ctx, function, func() (struct{}, error) {
		defer free()
		return struct{}{}, s.call(function, name, func(server *C.struct_arrowdevice_server, name *C.char, e *C.struct_arrowdevice_error) C.int {
			return C.arrowdevice_server_add_arrays(server, name, type_.c, &shared[0], C.int64_t(len(arrays)), e)
		})
	}, func(struct{}) { _ = s.Remove(name) })
	return err
}

// AddSource offers a function, which opens a stream for each client. Threads of the library call it,
// several at once. The stream that it returns is moved to the client. If the function returns an
// error, the client gets the errno value, or EIO, and the text. If it panics, the client gets EIO.
// AddSource fails with EEXIST if the server has the name.
func (s *Server) AddSource(name string, open func() (*Stream, error)) error {
	const function = "server_add_source"
	if open == nil {
		return newError(function, int(syscall.EINVAL), "the source is nil")
	}
	user := (*C.uintptr_t)(C.malloc(C.sizeof_uintptr_t))
	*user = C.uintptr_t(cgo.NewHandle(open))
	err := s.call(function, name, func(server *C.struct_arrowdevice_server, name *C.char, e *C.struct_arrowdevice_error) C.int {
		return C.arrowdevice_server_add_source(server, name, (*[0]byte)(C.arrowdeviceGoOpenStream),
			unsafe.Pointer(user), (*[0]byte)(C.arrowdeviceGoReleaseSource), e)
	})
	if err != nil {
		arrowdeviceGoReleaseSource(unsafe.Pointer(user))
	}
	return err
}

// Remove removes the stream, the arrays or the source with that name. Clients that have it already
// keep it. It fails with ENOENT if the server has nothing of that name.
func (s *Server) Remove(name string) error {
	return s.call("server_remove", name, func(server *C.struct_arrowdevice_server, name *C.char, e *C.struct_arrowdevice_error) C.int {
		return C.arrowdevice_server_remove(server, name, e)
	})
}

// Stats returns the server's statistics.
func (s *Server) Stats() (ServerStats, error) {
	const function = "server_get_stats"
	server, leave, err := s.handle().share(function)
	if err != nil {
		return ServerStats{}, err
	}
	defer leave()
	var stats C.struct_arrowdevice_server_stats
	stats.struct_size = C.sizeof_struct_arrowdevice_server_stats
	var e C.struct_arrowdevice_error
	code := C.arrowdevice_server_get_stats(server.c, &stats, &e)
	return ServerStats{
		Clients:     int64(stats.clients),
		Batches:     int64(stats.batches),
		Bytes:       int64(stats.bytes),
		CopiedBytes: int64(stats.copied_bytes),
	}, result(function, code, &e)
}

// Close ends the server. Streams that have not ended fail with ECANCELED, and clients keep the
// batches that they have. Close returns when no call uses a reader or a source of the server, so a
// source must not call it. If the context ends, Close returns, but the server ends nevertheless. A
// later Close waits again.
func (s *Server) Close(ctx context.Context) error {
	h := s.handle()
	if h == nil {
		return nil
	}
	h.release()
	select {
	case <-h.owned.destroyed:
		return nil
	default:
	}
	select {
	case <-h.owned.destroyed:
		return nil
	case <-ctx.Done():
		return contextError(ctx, "server_destroy")
	}
}

func (s *Server) handle() *handle[serverResource] {
	if s == nil {
		return nil
	}
	return s.h
}

// call calls a function of the library with the server and a name.
func (s *Server) call(function, name string,
	call func(server *C.struct_arrowdevice_server, name *C.char, e *C.struct_arrowdevice_error) C.int) error {
	text, free, err := cString(function, "name", name)
	if err != nil {
		return err
	}
	defer free()
	server, leave, err := s.handle().share(function)
	if err != nil {
		return err
	}
	defer leave()
	var e C.struct_arrowdevice_error
	return result(function, call(server.c, text, &e), &e)
}

//export arrowdeviceGoOpenStream
func arrowdeviceGoOpenStream(user unsafe.Pointer, out *C.struct_ArrowDeviceArrayStream, e *C.struct_arrowdevice_error) (code C.int) {
	// The struct may hold any bytes. Go must not take stale bytes for pointers when it writes over
	// them.
	C.memset(unsafe.Pointer(out), 0, C.sizeof_struct_ArrowDeviceArrayStream)
	defer func() { // a panic must not unwind through C frames
		if said := recover(); said != nil {
			code = tell(fmt.Errorf("the source panicked: %v", said), e)
		}
	}()
	return tell(openStream(cgo.Handle(*(*C.uintptr_t)(user)).Value().(func() (*Stream, error)), out), e)
}

func openStream(open func() (*Stream, error), out *C.struct_ArrowDeviceArrayStream) error {
	stream, err := open()
	if err != nil {
		return err
	}
	if stream == nil {
		return newError("server_add_source", int(syscall.EINVAL), "the source returned a nil stream")
	}
	defer stream.Release()
	return stream.Export(unsafe.Pointer(out))
}

// tell returns the code of an error of the program, and sets its text.
func tell(err error, e *C.struct_arrowdevice_error) C.int {
	if err == nil {
		return 0
	}
	room := unsafe.Slice((*byte)(unsafe.Pointer(&e.message[0])), len(e.message))
	text := err.Error()
	// A character at the end may be cut in two.
	text = strings.ToValidUTF8(text[:min(len(text), len(room)-1)], "")
	room[copy(room, text)] = 0
	return codeOf(err)
}

//export arrowdeviceGoReleaseSource
func arrowdeviceGoReleaseSource(user unsafe.Pointer) {
	cgo.Handle(*(*C.uintptr_t)(user)).Delete()
	C.free(user)
}

// ConnectOptions configure the stream of a client.
type ConnectOptions struct {
	// Device is the device of the batches. With the zero Device they are on the device on which the
	// server has them, or on the CPU if this process has no device of that type.
	Device Device
	// AnyUser allows a server of any user.
	AnyUser bool
	// Always copies each batch into memory that no other process can open.
	Always bool
	// Never makes a batch that needs a copy end the stream with ENOTSUP.
	Never bool
	// MaxBatches is the number of batches that the server sends before the consumer takes the
	// first. 0 means 64.
	MaxBatches int
	// MaxBytes limits the bytes of these batches, but the server always sends one. 0 means 64 MiB.
	MaxBytes int64
	// Timeout limits Connect, and each call of Next. 0 means no limit, negative does not wait.
	Timeout time.Duration
}

// Connect connects to a server, which is usually in another process, and gets one of its streams.
// The address is that of the server. "?name=" and the name follow, unless the server has only one
// stream. url.PathEscape escapes the name. If the context ends, the call returns and leaves the
// server.
//
// Memory of the CPU is mapped for reading only, so a write ends the process. Batches stay valid
// after the server has ended. Next then fails with ECONNRESET. If the server's stream fails, Next
// fails with its errno value and its text.
//
// Connect fails with ECONNREFUSED or ENOENT if there is no server at the address, and with ENOENT if
// the server has no stream of that name. It fails with EBUSY if another client has the stream, and
// with EACCES for a server of another user. The server's process can write to the memory at any
// time. A program that does not trust it sets Always, and calls Validate with Full before any other
// use.
func Connect(ctx context.Context, uri string, options ConnectOptions) (*Stream, error) {
	const function = "stream_connect"
	if err := contextError(ctx, function); err != nil {
		return nil, err
	}
	c := C.struct_arrowdevice_connect_options{
		struct_size: C.sizeof_struct_arrowdevice_connect_options,
		copy_flags:  (&CopyOptions{Always: options.Always, Never: options.Never}).flags(),
		max_bytes:   C.int64_t(options.MaxBytes),
		timeout_ns:  C.int64_t(options.Timeout),
	}
	if options.AnyUser {
		c.flags = C.ARROWDEVICE_LINK_ANY_USER
	}
	var err error
	if c.max_batches, err = int32Of(function, "options.MaxBatches", options.MaxBatches); err != nil {
		return nil, err
	}
	uri, closeOwn := ownAddress(function, uri)
	address, free, err := cString(function, "address", uri)
	if err != nil {
		closeOwn()
		return nil, err
	}
	return started(ctx, function, func() (*Stream, error) {
		defer closeOwn()
		defer free()
		ended := new(int32)
		stop := context.AfterFunc(ctx, func() { atomic.StoreInt32(ended, 1) })
		defer stop()
		out := newStream()
		var e C.struct_arrowdevice_error
		code := C.connect_until(address, options.Device.c, &c, (*C.int32_t)(ended), out.c, &e)
		return out.filled(function, code, &e)
	}, (*Stream).Release)
}

// ownAddress duplicates the descriptor of an address with a descriptor, because the caller may close
// its own after the context has ended the call. The library refuses an address that is not valid.
func ownAddress(function, uri string) (string, func()) {
	rest, ok := strings.CutPrefix(uri, "fd:")
	number, _, _ := strings.Cut(rest, "?")
	descriptor, err := strconv.ParseUint(number, 10, 31)
	if !ok || err != nil {
		return uri, func() {}
	}
	own, err := duplicateAll(function, []int{int(descriptor)})
	if err != nil {
		return uri, func() {}
	}
	return fmt.Sprintf("fd:%d%s", own[0], rest[len(number):]), func() { closeAll(own) }
}
