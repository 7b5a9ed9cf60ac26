// SPDX-License-Identifier: Apache-2.0
// Arrays of all types, small enough for a fuzzer.
#pragma once

#include "check.h"
#include "input.h"
#include "support/field.h"
#include "support/generator.h"
#include "support/host_data.h"

namespace fuzz {

// Returns any type of the tests, or a record batch of some types.
Field type_of(Input& input);

Knobs knobs_of(Input& input);

// Returns false for arrays that take long to read by value. Types without buffers may have any length.
bool is_short(const ArrowArray& array);

ArrowDeviceArray on_cpu(Owned<ArrowArray> array);

}  // namespace fuzz
