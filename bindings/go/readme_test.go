// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestTheREADMEShowsTheExampleThatRuns(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile(`(?s)\nfunc Example\(\) \{\n(.*?)\n\}\n`).FindSubmatch(source)
	shown := regexp.MustCompile("(?s)```go\n(.*?)\n```").FindAllSubmatch(readme, -1)
	if example == nil || len(shown) != 1 {
		t.Fatalf("%d pieces of Go in README.md", len(shown))
	}
	want := strings.ReplaceAll("\n"+string(example[1]), "\n\t", "\n")[1:]
	if got := string(shown[0][1]); got != want {
		t.Errorf("README.md shows\n%s\nand not what runs:\n%s", got, want)
	}
}
