// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"syscall"
	"testing"

	arrowdevice "libarrowdevice/arrowdevice"
)

// alone runs a test in a process of its own. Close waits for all deferred work of the process, and
// other tests leave work that stays pending. Returns true in that process.
func alone(t *testing.T) bool {
	only := "^" + t.Name() + "$"
	if flag.Lookup("test.run").Value.String() == only {
		return true
	}
	out, err := exec.Command(os.Args[0], "-test.run="+only, "-test.timeout=1m").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func TestWrapDeviceUsesAContextOfTheProgram(t *testing.T) {
	if !alone(t) {
		return
	}
	ctx := context.Background()
	native := arrowdevice.NativeDevice{Context: 0x1234}
	options := &arrowdevice.WrapOptions{Extensions: []string{"VK_one", "VK_two"}}
	wrapped, err := arrowdevice.WrapDevice(arrowdevice.ExtDev, 0, native, options)
	if err != nil {
		t.Fatal(err)
	}
	if wrapped.Device == device(t, "ext_dev:0") {
		t.Error("the wrapped context is the library's own device")
	}
	want := samples["string"].make(t, checked(t))
	defer want.Release()
	there, err := fromArrow(t, want).ToDevice(ctx, wrapped.Device, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := there.Device(); err != nil || found != wrapped.Device {
		t.Errorf("the array is on %v, %v", found, err)
	}
	if err := wrapped.Close(ctx); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("Close with a live array: %v", err)
	}
	got := toArrow(t, there)
	mustEqual(t, got, want)
	got.Release()
	for range 2 {
		there.Release()
	}
	if err := wrapped.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := wrapped.Close(ctx); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if _, err := wrapped.NewQueue(); !errors.Is(err, syscall.ENODEV) {
		t.Errorf("a call after Close: %v", err)
	}
}

func TestWrapDeviceRefusesAContextThatTheBackendCannotUse(t *testing.T) {
	if _, err := arrowdevice.WrapDevice(arrowdevice.ExtDev, 0, arrowdevice.NativeDevice{}, nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("without a context: %v", err)
	}
	if _, err := arrowdevice.WrapDevice(arrowdevice.CPU, 0, arrowdevice.NativeDevice{Context: 1}, nil); !errors.Is(err, syscall.ENOTSUP) {
		t.Errorf("on the CPU: %v", err)
	}
}
