// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
import "C"

import (
	"context"
	"time"
)

// interruptible runs work, a call of the library that may block, and comes back when the context ends, also where the
// call itself cannot be stopped. Then the work ends on a goroutine of its own, and discard gets what it still makes:
// work must own all that it uses.
func interruptible[T any](ctx context.Context, function string, work func() (T, error), discard func(T)) (T, error) {
	var none T
	if err := contextError(ctx, function); err != nil {
		return none, err
	}
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

// timeoutOf is the time left until a context's deadline, as options want it: 0 for ever.
func timeoutOf(ctx context.Context) C.int64_t {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return C.int64_t(max(1, time.Until(deadline)))
}
