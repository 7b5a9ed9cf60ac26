// SPDX-License-Identifier: Apache-2.0

// Package arrowdevice moves and copies Arrow data between arrow-go and any device that libarrowdevice
// drives: CUDA, ROCm, OpenCL, Vulkan, oneAPI, and the devices of plugins.
//
// An [Array] owns an array or record batch on a device. [FromArrow] and [FromRecordBatch] make it
// from arrow-go. [Array.ToDevice] and [Array.Copy] put it on a [Device]. [Array.ToArrow] and
// [Array.ToRecordBatch] bring it back to arrow-go. A [Stream] does the same with batches that flow.
// [Import], [ImportStream], [Array.Export] and [Stream.Export] exchange C structs with other
// libraries. [Array.IPCHandle] and [OpenIPCHandle] exchange arrays with other processes. A [Server]
// offers streams to other processes, and [Connect] gets one of them.
//
// These rules hold for the whole package:
//
//   - Ownership. A method that moves its input releases it if the method succeeds. If the method
//     fails, or if a context ends it, the input is unchanged.
//   - Release. Any goroutine may call Release, any number of times. It returns at once and never
//     waits for a device. The exception is a queue of [Device.WrapQueue], whose Release returns when
//     no call uses the program's queue. The garbage collector releases forgotten objects, but late,
//     because it does not see their memory.
//   - Contexts. A method that may wait takes a context and returns when the context ends, even while
//     another call holds the object that it needs. The [Error] then matches
//     context.DeadlineExceeded or context.Canceled in errors.Is. The library finishes work that was
//     submitted before and drops its result. [FindByName], [Devices] and
//     [Array.Device] take no context, but may wait while a driver is opened. [Queue.Release] may wait
//     for the users of a queue of [Device.WrapQueue].
//   - Errors. Each is an [Error] with an errno value for errors.Is, the backend, the vendor's own
//     code, and a message.
//   - Goroutines. Any goroutine may call every method, also at the same time on one value.
//   - Memory. Buffers of arrow-go are pinned as long as C uses them, whichever allocator they come
//     from.
package arrowdevice
