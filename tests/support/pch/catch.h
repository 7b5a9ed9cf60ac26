// SPDX-License-Identifier: Apache-2.0
// What every test program includes, compiled once for each of them.
#include "../../../src/base/pch/standard.h"
#include "support/catch.h"
