// SPDX-License-Identifier: Apache-2.0

package arrowdevice

import (
	"context"
	"testing"
	"time"
)

func TestTimeoutsFollowTheDeadline(t *testing.T) {
	if got := int64(timeoutOf(context.Background())); got != 0 {
		t.Errorf("no deadline: %d (expected 0)", got)
	}
	passed, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	if got := int64(timeoutOf(passed)); got >= 0 {
		t.Errorf("a deadline that has passed: %d (expected a negative number)", got)
	}
	later, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	if got := int64(timeoutOf(later)); got <= 0 || got > int64(time.Hour) {
		t.Errorf("a deadline in one hour: %d (expected 1 to %d)", got, int64(time.Hour))
	}
	for limit, want := range map[time.Duration]int64{0: -1, -time.Second: -1, 1: 1, time.Second: int64(time.Second)} {
		if got := int64(timeoutNS(limit)); got != want {
			t.Errorf("limit %v: %d (expected %d)", limit, got, want)
		}
	}
}
