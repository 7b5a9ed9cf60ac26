// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
import "C"

import (
	"context"
	"time"
)

// interruptible runs work, a call of the library that may block. It returns when the context ends,
// even if the call itself cannot be stopped. The work then finishes on its own goroutine, and
// discard gets its result. The work must own everything that it uses.
func interruptible[T any](ctx context.Context, function string, work func() (T, error), discard func(T)) (T, error) {
	var none T
	if err := contextError(ctx, function); err != nil {
		return none, err
	}
	return started(ctx, function, work, discard)
}

// started does the same. It begins the work even if the context has ended, so that work may own
// things that it frees.
func started[T any](ctx context.Context, function string, work func() (T, error), discard func(T)) (T, error) {
	var none T
	if ctx.Done() == nil {
		return work()
	}
	type outcome struct {
		value T
		err   error
	}
	finished := make(chan outcome)
	abandoned := make(chan struct{})
	go func() {
		value, err := work()
		select {
		case finished <- outcome{value, err}:
		case <-abandoned:
			if err == nil {
				discard(value)
			}
		}
	}()
	select {
	case outcome := <-finished:
		return outcome.value, outcome.err
	case <-ctx.Done():
		close(abandoned)
		return none, contextError(ctx, function)
	}
}

// timeoutOf returns the time until a context's deadline as a timeout_ns. Without a deadline the
// library waits without limit.
func timeoutOf(ctx context.Context) C.int64_t {
	deadline, ok := ctx.Deadline()
	if !ok {
		return C.ARROWDEVICE_NO_TIMEOUT
	}
	return timeoutNS(time.Until(deadline))
}

// timeoutNS converts a limit to a timeout_ns. A limit that has passed does not wait.
func timeoutNS(limit time.Duration) C.int64_t {
	if limit <= 0 {
		return C.ARROWDEVICE_POLL
	}
	return C.int64_t(limit)
}
