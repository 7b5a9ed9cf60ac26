// SPDX-License-Identifier: Apache-2.0
// Precompiled header with the headers that every test program includes.
#include "../../../src/base/pch/standard.h"
#include "support/catch.h"
