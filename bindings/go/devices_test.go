// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// device finds a device and fails the test if it is missing.
func device(t testing.TB, name string) arrowdevice.Device {
	t.Helper()
	found, err := arrowdevice.FindByName(name)
	if err != nil {
		t.Fatalf("device %s is missing: %v", name, err)
	}
	return found
}

// forEachDevice runs a test on every device of ARROWDEVICE_TEST_DEVICES. A missing device fails its
// test.
func forEachDevice(t *testing.T, test func(t *testing.T, to arrowdevice.Device)) {
	t.Helper()
	names := strings.FieldsFunc(os.Getenv("ARROWDEVICE_TEST_DEVICES"), func(r rune) bool { return r == ',' || r == ' ' })
	if len(names) == 0 {
		t.Fatal("ARROWDEVICE_TEST_DEVICES names no device; bindings/go/test.sh sets it")
	}
	for _, name := range names {
		t.Run(strings.ReplaceAll(name, ":", "_"), func(t *testing.T) { test(t, device(t, name)) })
	}
}

// forEachShareableDevice leaves out devices whose memory other processes cannot open.
func forEachShareableDevice(t *testing.T, test func(t *testing.T, on arrowdevice.Device)) {
	t.Helper()
	forEachDevice(t, func(t *testing.T, on arrowdevice.Device) {
		info, err := on.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Flags&arrowdevice.DeviceShareable != 0 {
			test(t, on)
		} else if on == device(t, "cpu") || info.Type == arrowdevice.ExtDev {
			t.Error("other processes cannot open the memory")
		}
	})
}

// pendingDevice returns a device on which copies do not finish while the tests run.
func pendingDevice(t *testing.T) arrowdevice.Device {
	t.Helper()
	name := os.Getenv("ARROWDEVICE_TEST_PENDING")
	if name == "" {
		t.Fatal("ARROWDEVICE_TEST_PENDING names no device; bindings/go/test.sh sets it")
	}
	return device(t, name)
}

// checked returns an allocator that fails the test if memory is not freed. Releases may come a
// little later, from the library's own thread.
func checked(t *testing.T) memory.Allocator {
	allocator := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() {
		eventually(t, func() error {
			if bytes := allocator.CurrentAlloc(); bytes != 0 {
				return fmt.Errorf("%d bytes of arrow-go were not freed", bytes)
			}
			return nil
		})
	})
	return allocator
}

// eventually repeats a check until the garbage collector and the library's threads have had time to
// finish.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// poolOf makes a pool and fails the test if the pool is not empty at the end.
func poolOf(t *testing.T, of arrowdevice.Device) *arrowdevice.Pool {
	t.Helper()
	return poolWith(t, of, arrowdevice.PoolOptions{})
}

func poolWith(t *testing.T, of arrowdevice.Device, options arrowdevice.PoolOptions) *arrowdevice.Pool {
	t.Helper()
	pool, err := of.NewPool(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer pool.Release()
		eventually(t, func() error {
			stats, err := pool.Stats()
			if err == nil && stats.UsedBytes != 0 {
				err = fmt.Errorf("%d bytes of %v are still used", stats.UsedBytes, of)
			}
			return err
		})
	})
	return pool
}
