// SPDX-License-Identifier: Apache-2.0
// Record batches of the tests' cases, which the IPC format can express.
#pragma once

#include "ipc_stream.h"
#include "library.h"

namespace ipc_test {

using library_test::Array;
using library_test::Field;
using library_test::HostCase;
using library_test::Schema;

// The rows of a case as a record batch, and a copy without offsets.
struct SentBatch {
  explicit SentBatch(const HostCase& one);
  Schema schema;
  Array original;
  Array array;
};

// Returns false for dictionaries of dictionaries, which IPC does not have.
bool is_writable(const Field& type);

// Returns false for runs of runs and for children without a name, which Arrow C++ does not import.
bool is_known_to_arrow_cpp(const Field& type);

}  // namespace ipc_test
