// SPDX-License-Identifier: Apache-2.0
// The test framework, whichever of its two generations is installed.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
