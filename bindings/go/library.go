// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #cgo pkg-config: arrowdevice
// #include <arrowdevice/arrowdevice.h>
// #include <errno.h>
// #include <stdlib.h>
import "C"

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// Version returns the version of the library that the program uses: "major.minor.patch".
func Version() string { return C.GoString(C.arrowdevice_version()) }

// WaitIdle waits until no work is deferred or in flight. That includes releases of arrays whose
// copies still run. A program calls it for an orderly shutdown.
func WaitIdle(ctx context.Context) error {
	return waitInSlices(ctx, "wait_idle", func(timeout C.int64_t, e *C.struct_arrowdevice_error) (C.int, error) {
		return C.arrowdevice_wait_idle(timeout, e), nil
	})
}

// BackendReport describes one place where the library looked for a backend.
type BackendReport struct {
	Name   string // the backend's name, "" if unknown
	Path   string // file or folder, "" for a built-in backend
	Err    error  // nil if the backend is loaded
	Reason string // why the backend is not used, or which devices it drives
}

// BackendReports lists every place where the library has looked for a backend so far, in order. It
// explains why a device is missing.
func BackendReports() []BackendReport {
	var found []BackendReport
	for index := C.int64_t(0); ; index++ {
		var report C.struct_arrowdevice_backend_report
		report.struct_size = C.sizeof_struct_arrowdevice_backend_report
		if C.arrowdevice_backend_get_report(index, &report, nil) != 0 {
			return found
		}
		backend := BackendReport{
			Name:   C.GoString(&report.name[0]),
			Path:   C.GoString(&report.path[0]),
			Reason: C.GoString(&report.reason[0]),
		}
		if report.status != 0 {
			backend.Err = newError("backend_get_report", int(report.status), backend.Reason)
		}
		found = append(found, backend)
	}
}

// A wait with a context consists of waits of this length, so that it notices the end of the
// context. It holds no lock between them.
const waitSlice = 10 * time.Millisecond

// waitInSlices calls wait until the result is not ETIMEDOUT or the context ends.
func waitInSlices(ctx context.Context, function string,
	wait func(timeout C.int64_t, e *C.struct_arrowdevice_error) (C.int, error)) error {
	for {
		if err := contextError(ctx, function); err != nil {
			return err
		}
		slice := waitSlice
		if deadline, ok := ctx.Deadline(); ok {
			slice = min(slice, time.Until(deadline))
		}
		var e C.struct_arrowdevice_error
		code, err := wait(timeoutNS(slice), &e)
		switch {
		case err != nil:
			return err
		case code != C.ETIMEDOUT:
			return result(function, code, &e)
		}
	}
}

// cString returns a text for a call of the library, and a function that frees it. `kind` names the
// text in the error.
func cString(function, kind, text string) (*C.char, func(), error) {
	if strings.ContainsRune(text, 0) {
		return nil, nil, newError(function, int(syscall.EINVAL), "the "+kind+" "+strconv.Quote(text)+" has a zero byte")
	}
	c := C.CString(text)
	return c, func() { C.free(unsafe.Pointer(c)) }, nil
}

// int32Of converts a number for a call of the library.
func int32Of(function, name string, number int) (C.int32_t, error) {
	if number < math.MinInt32 || number > math.MaxInt32 {
		return 0, newError(function, int(syscall.EINVAL), fmt.Sprintf("%s is %d (expected a 32-bit integer)", name, number))
	}
	return C.int32_t(number), nil
}
