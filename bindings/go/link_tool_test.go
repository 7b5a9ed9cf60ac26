// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	arrowdevice "libarrowdevice/arrowdevice"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// theTool returns the command-line tool, which is a process in C++.
func theTool(t *testing.T) string {
	t.Helper()
	tool := os.Getenv("ARROWDEVICE_TEST_TOOL")
	if tool == "" {
		t.Fatal("ARROWDEVICE_TEST_TOOL names no tool; bindings/go/test.sh sets it")
	}
	return tool
}

func TestTheToolFetchesFromGo(t *testing.T) {
	tool := theTool(t)
	forEachShareableDevice(t, func(t *testing.T, on arrowdevice.Device) {
		pool := poolWith(t, on, arrowdevice.PoolOptions{Shareable: true})
		want := batches(t, checked(t), 5)
		server, uri := newServer(t)
		arrays := copiesIn(t, on, pool, want)
		if err := server.AddArrays(context.Background(), "rows", want[0].Schema(), arrays...); err != nil {
			t.Fatal(err)
		}
		output, err := exec.Command(tool, "fetch", "--json", uri).Output()
		if err != nil {
			t.Fatal(err)
		}
		var fetched struct{ Rows, Batches, Columns int64 }
		if err := json.Unmarshal(output, &fetched); err != nil {
			t.Fatal(err)
		}
		rows := int64(0)
		for _, batch := range want {
			rows += batch.NumRows()
		}
		if fetched.Rows != rows || fetched.Batches != 5 || fetched.Columns != want[0].NumCols() {
			t.Errorf("the tool says %s", output)
		}
		if stats := statsOf(t, server); stats.Batches != 5 || stats.CopiedBytes != 0 {
			t.Errorf("the statistics are %+v", stats)
		}
	})
}

func TestGoReadsWhatTheToolServes(t *testing.T) {
	tool := theTool(t)
	want := batches(t, checked(t), 5)
	path := filepath.Join(t.TempDir(), "rows.arrows")
	write(t, path, want)
	forEachShareableDevice(t, func(t *testing.T, on arrowdevice.Device) {
		uri := newAddress()
		process := exec.Command(tool, "serve", "--at="+uri, "--device="+on.String(), "--once", path)
		process.Stderr = os.Stderr
		output, err := process.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { process.Process.Kill() })
		lines := bufio.NewReader(output)
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, uri) {
			t.Fatalf("the tool says %q, %v", line, err)
		}
		stream, err := arrowdevice.Connect(context.Background(), uri, arrowdevice.ConnectOptions{Never: true})
		if err != nil {
			t.Fatal(err)
		}
		mustSend(t, stream, want)
		stream.Release()
		rest, err := io.ReadAll(lines)
		if err != nil || !strings.HasSuffix(string(rest), "Copied nothing.\n") {
			t.Errorf("the tool says %q, %v", rest, err)
		}
		if err := process.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// write writes a stream of Arrow's IPC format.
func write(t *testing.T, path string, batches []arrow.RecordBatch) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	writer := ipc.NewWriter(file, ipc.WithSchema(batches[0].Schema()))
	for _, batch := range batches {
		if err := writer.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}
