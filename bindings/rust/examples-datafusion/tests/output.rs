// SPDX-License-Identifier: Apache-2.0
//! Compares the output of the example on simulated devices, PoCL and lavapipe.

use std::process::Command;

const EXPECTED: &str = "\
30000 rows in 3 batches are on the device
+-----------+----------+----------------+
| remainder | count(*) | sum(numbers.n) |
+-----------+----------+----------------+
| 0         | 10000    | 150015000      |
| 1         | 10000    | 149995000      |
| 2         | 10000    | 150005000      |
+-----------+----------+----------------+
480000 bytes came to the CPU
+----------+
| count(*) |
+----------+
| 30000    |
+----------+
0 bytes came to the CPU
";

#[test]
fn query_reads_the_table_on_each_device() {
    for device in ["ext_dev:0", "ext_dev:1", "opencl:0", "vulkan:0"] {
        let output = Command::new(env!("CARGO_BIN_EXE_datafusion-example"))
            .arg(device)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{device}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), EXPECTED, "{device}");
    }
}
