// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	arrowdevice "libarrowdevice/arrowdevice"
)

func TestDevicesListsDevicesThatFindByNameFinds(t *testing.T) {
	all, err := arrowdevice.Devices()
	if err != nil {
		t.Fatal(err)
	}
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		if !slices.Contains(all, to) {
			t.Errorf("%v is not among %v", to, all)
		}
	})
}

func TestInfoDescribesTheDevice(t *testing.T) {
	forEachDevice(t, func(t *testing.T, to arrowdevice.Device) {
		info, err := to.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Name == "" || info.Backend == "" || info.BufferAlignment < 1 || info.TotalMemory == 0 || info.NUMANode < -1 {
			t.Errorf("not described: %+v", info)
		}
		type_, _, _ := strings.Cut(to.String(), ":")
		if info.Type.String() != type_ {
			t.Errorf("%v is of type %v", to, info.Type)
		}
		if again := device(t, to.String()); again != to {
			t.Errorf("%v finds %v", to, again)
		}
		flags, err := to.PeerFlags(to)
		if err != nil || flags != arrowdevice.PeerAccess|arrowdevice.PeerCopy {
			t.Errorf("PeerFlags of the device itself: %v, %v", flags, err)
		}
		if _, _, err := to.MemoryInfo(); err != nil {
			t.Error(err)
		}
	})
}

func TestPeerFlagsNameTheMissingDevice(t *testing.T) {
	var none arrowdevice.Device
	cpu := device(t, "cpu")
	_, from := none.PeerFlags(cpu)
	_, to := cpu.PeerFlags(none)
	for missing, err := range map[string]error{"from": from, "to": to} {
		if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), missing+" is NULL") {
			t.Errorf("the error of the missing device %q is %v", missing, err)
		}
	}
}

func TestFindByNameGivesTheReasonOfAFailure(t *testing.T) {
	for name, code := range map[string]syscall.Errno{
		"cpu:1": syscall.ENODEV, "ext_dev:99": syscall.ENODEV, "no such type:0": syscall.EINVAL, "": syscall.EINVAL, "cpu\x00:0": syscall.EINVAL, "cpu:x": syscall.EINVAL,
	} {
		_, err := arrowdevice.FindByName(name)
		var e *arrowdevice.Error
		if !errors.As(err, &e) || e.Code != code || !errors.Is(err, code) || e.Message == "" || e.Function != "device_find_by_name" {
			t.Errorf("%q: %#v", name, err)
		}
	}
}

func TestCallsRefuseTheZeroDevice(t *testing.T) {
	var none arrowdevice.Device
	if _, err := none.Info(); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("Info: %v", err)
	}
	if _, err := none.NewQueue(); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("NewQueue: %v", err)
	}
	if _, err := none.NewPool(arrowdevice.PoolOptions{}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("NewPool: %v", err)
	}
	if none.String() != "no device" {
		t.Errorf("String: %v", none)
	}
}

func TestBackendReportsListTheBackends(t *testing.T) {
	if _, err := arrowdevice.Devices(); err != nil {
		t.Fatal(err)
	}
	backends := arrowdevice.BackendReports()
	loaded := func(b arrowdevice.BackendReport) bool { return b.Name == "cpu" && b.Err == nil }
	if !slices.ContainsFunc(backends, loaded) {
		t.Errorf("cpu is not among %+v", backends)
	}
	for _, backend := range backends {
		if backend.Err != nil && backend.Reason == "" {
			t.Errorf("no reason: %+v", backend)
		}
	}
}
