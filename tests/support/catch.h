// SPDX-License-Identifier: Apache-2.0
// Includes Catch2, in version 2 or version 3, whichever is installed.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
