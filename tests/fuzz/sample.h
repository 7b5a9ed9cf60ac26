// SPDX-License-Identifier: Apache-2.0
// Arrays of all types, of the size that a fuzzer has time for.
#pragma once

#include "check.h"
#include "input.h"
#include "support/field.h"
#include "support/generator.h"
#include "support/host_data.h"

namespace fuzz {

// Any type of the tests, or a record batch of some.
Field type_of(Input& input);

Knobs knobs_of(Input& input);

ArrowDeviceArray on_cpu(Owned<ArrowArray> array);

}  // namespace fuzz
