// SPDX-License-Identifier: Apache-2.0
// Schemas and arrays of every type go through messages and come back.
#include <string>

#include "ipc_batches.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using namespace ipc_test;      // NOLINT: the same

TEST_CASE("arrays of every type come back from a stream") {
  begin();
  for (const HostCase& one : asked_cases()) {
    if (!is_writable(one.type)) continue;
    INFO(one.name);
    const SentBatch sent(one);
    const ReadStream back = read_stream(write_stream(*sent.schema, {&sent.array->array, &sent.array->array}));
    REQUIRE(back.batches.size() == 2);
    CHECK(difference(*sent.schema, sent.original->array, *back.schema, *back.batches[1]) == "");
    CHECK(problem(*back.schema, *back.batches[0]) == "");
  }
}

}  // namespace
