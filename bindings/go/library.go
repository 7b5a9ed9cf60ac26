// SPDX-License-Identifier: Apache-2.0

package arrowdevice

// #cgo pkg-config: arrowdevice
// #include <arrowdevice/arrowdevice.h>
// #include <errno.h>
import "C"

import (
	"context"
	"time"
)

// Version is the version of the library that the program runs with: "major.minor.patch".
func Version() string { return C.GoString(C.arrowdevice_version()) }

// WaitIdle waits until nothing is deferred or in flight, the releases of arrays whose copies still run among it: for an
// orderly shutdown.
func WaitIdle(ctx context.Context) error {
	return waitInSlices(ctx, "wait_idle", func(timeout C.int64_t, e *C.struct_arrowdevice_error) (C.int, error) {
		return C.arrowdevice_wait_idle(timeout, e), nil
	})
}

// BackendReport is one place where a backend was looked for, and what came of it.
type BackendReport struct {
	Name   string // as far as it is known
	Path   string // file or folder; empty for one that is built in
	Err    error  // nil: it is loaded
	Reason string // why it was not used, or what it serves
}

// BackendReports tells every place that was looked at so far, in the order of looking: why a device is there or not.
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

// A wait whose context may end is made of waits of this length, so that the end is seen; no lock is held in between.
const waitSlice = 10 * time.Millisecond

// waitInSlices calls wait until it answers anything but ETIMEDOUT or the context ends.
func waitInSlices(ctx context.Context, function string,
	wait func(timeout C.int64_t, e *C.struct_arrowdevice_error) (C.int, error)) error {
	for {
		if err := contextError(ctx, function); err != nil {
			return err
		}
		slice := waitSlice
		if deadline, ok := ctx.Deadline(); ok {
			slice = max(0, min(slice, time.Until(deadline)))
		}
		var e C.struct_arrowdevice_error
		code, err := wait(C.int64_t(slice), &e)
		switch {
		case err != nil:
			return err
		case code != C.ETIMEDOUT:
			return result(function, code, &e)
		}
	}
}
