// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #include <arrowdevice/arrowdevice.h>
import "C"

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Error is the type of every error of this package, except io.EOF at the end of a stream.
//
// errors.Is finds its Code: errors.Is(err, syscall.EINVAL). ETIMEDOUT also matches
// context.DeadlineExceeded, and ECANCELED matches context.Canceled. If a context ended the call,
// errors.Is also finds the context's cause.
type Error struct {
	Code       syscall.Errno // as arrowdevice.h documents it for the function
	NativeCode int           // the vendor's own code, 0 if there is none
	Function   string        // the function of the library without its prefix: "array_to_device"
	Backend    string        // the backend that failed: "cuda"; "" if the library itself failed
	Message    string        // "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (8388608 bytes on CUDA 0)"

	cause error
}

// Error returns a text with the function, the backend that failed, and the vendor's code.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "arrowdevice_%s: ", e.Function)
	if e.Backend != "" {
		fmt.Fprintf(&text, "%s: ", e.Backend)
	}
	if e.Message != "" {
		text.WriteString(e.Message)
	} else {
		text.WriteString(e.Code.Error())
	}
	if e.NativeCode != 0 {
		fmt.Fprintf(&text, " (code %d)", e.NativeCode)
	}
	return text.String()
}

// Is compares with the errors of contexts. errors.Is finds errno values by Unwrap.
func (e *Error) Is(target error) bool {
	switch target {
	case context.DeadlineExceeded:
		return e.Code == syscall.ETIMEDOUT
	case context.Canceled:
		return e.Code == syscall.ECANCELED
	}
	return false
}

// Unwrap returns the errno value and the cause of the context that ended the call.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Code, e.cause}
	}
	return []error{e.Code}
}

// Timeout returns true for ETIMEDOUT, as net.Error requires.
func (e *Error) Timeout() bool { return e.Code == syscall.ETIMEDOUT }

func newError(function string, code int, message string) *Error {
	return &Error{Code: syscall.Errno(code), Function: function, Message: message}
}

// result makes a Go error from the result of a function of the library.
func result(function string, code C.int, e *C.struct_arrowdevice_error) error {
	if code == 0 {
		return nil
	}
	return &Error{
		Code:       syscall.Errno(code),
		NativeCode: int(e.native_code),
		Function:   function,
		Backend:    C.GoString(&e.backend[0]),
		Message:    C.GoString(&e.message[0]),
	}
}

// contextError returns nil if the context has not ended.
func contextError(ctx context.Context, function string) error {
	ended := ctx.Err()
	if ended == nil {
		return nil
	}
	e := newError(function, int(syscall.ECANCELED), ended.Error())
	if errors.Is(ended, context.DeadlineExceeded) {
		e.Code = syscall.ETIMEDOUT
	}
	if cause := context.Cause(ctx); cause != ended {
		e.cause = cause
		e.Message += ": " + cause.Error()
	}
	return e
}

func withCause(e *Error, cause error) *Error {
	e.cause = cause
	return e
}
