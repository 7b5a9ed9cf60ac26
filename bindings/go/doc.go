// SPDX-License-Identifier: Apache-2.0

// Package arrowdevice hands Arrow data to any device that libarrowdevice drives, and back: CUDA, ROCm, OpenCL, Vulkan,
// oneAPI, and whatever a plugin brings.
//
// An [Array] owns an array or record batch on a device. It comes from arrow-go by [FromArrow] and [FromRecordBatch], gets
// to a [Device] by [Array.ToDevice] and [Array.Copy], and back to arrow-go by [Array.ToArrow] and [Array.ToRecordBatch]. A
// [Stream] does the same with batches that flow. Other libraries in C are met by [Import], [Array.Export] and their kin.
//
// What holds everywhere:
//
//   - Ownership. What a method hands over is released by it on success; on failure it is as it was, also where a context
//     ended the call. Release may be called from any goroutine and more than once, returns at once, and never waits for a
//     device, but for that of a queue of [Device.WrapQueue]: it returns when no call uses the program's queue any more.
//     What was forgotten is released when the garbage collector finds it; which is late for memory that it does not see.
//   - Contexts. What may wait takes one, and comes back when it ends, with an [Error] that is context.DeadlineExceeded or
//     context.Canceled to errors.Is, also while another call has what it needs. What was submitted by then is ended by
//     the library, and its result is thrown away. Without one, [FindByName], [Devices] and [Array.Device] may wait for a driver
//     that is opened, and [Queue.Release] for the users of a queue of [Device.WrapQueue].
//   - Errors. Each is an [Error]: an errno value for errors.Is, the backend, the vendor's own code, and a message.
//   - Goroutines. Every method may be called from any of them, also on one value at once.
//   - Memory. Buffers of arrow-go are pinned for as long as C has them, wherever they were allocated.
package arrowdevice
