// SPDX-License-Identifier: Apache-2.0

package arrowdevice_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestREADMEShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```go\n(.*?)\n```").FindAllSubmatch(readme, -1)
	if len(shown) == 0 {
		t.Fatal("README.md has no Go program")
	}
	want := string(source)
	for _, change := range [][2]string{ // makes a program from an example
		{"// SPDX-License-Identifier: Apache-2.0\n\n", ""},
		{"package arrowdevice_test\n", "package main\n"},
		{"// The README shows this file as a program.\nfunc Example() {\n", "func main() {\n"},
		{"\t// Output: [7 9]\n}\n", "}"},
	} {
		if strings.Count(want, change[0]) != 1 {
			t.Fatalf("example_test.go must have this text exactly once:\n%s", change[0])
		}
		want = strings.Replace(want, change[0], change[1], 1)
	}
	if got := string(shown[0][1]); got != want {
		t.Errorf("README.md shows\n%s\nbut the example is\n%s", got, want)
	}
}
