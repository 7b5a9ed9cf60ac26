// SPDX-License-Identifier: Apache-2.0

package main

import "os"

func Example() {
	os.Args = []string{"sum_vulkan", os.Getenv("ARROWDEVICE_TEST_SHADER")} // test.sh compiles it
	main()
	// Output: 4 on vulkan:0
}
