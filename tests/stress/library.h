// SPDX-License-Identifier: Apache-2.0
// A second copy of the library in the process, like a module that brings its own copy. The program's direct
// calls go to the copy that it is linked with.
#pragma once

#include <arrowdevice/arrowdevice.h>

#include <string>

namespace stress {

// The functions of a copy that these programs call.
// clang-format off
#define STRESS_FUNCTIONS(X) \
  X(device_find_by_id) X(device_count) X(queue_create) X(queue_destroy) X(pool_get_stats) X(device_get_pool) \
  X(array_from_host) X(array_import) X(view_share) X(view_detach) X(view_release) \
  X(view_release_after) X(array_move) X(array_release) X(array_release_after) X(array_is_ready) \
  X(array_wait) X(queue_wait_array) X(array_copy) X(array_to_device) X(array_to_host) X(array_share) \
  X(array_slice) X(array_select) X(wait_idle)
// clang-format on

struct Library {
#define STRESS_MEMBER(name) decltype(&::arrowdevice_##name) name;
  STRESS_FUNCTIONS(STRESS_MEMBER)
#undef STRESS_MEMBER
  void* handle = nullptr;  // from dlopen; NULL for the copy that the program is linked with
  std::string path = {};   // of the file, which is removed already
};

Library linked_library();

// Loads a copy of the library's file. The loader identifies libraries by their files, so each copy is
// another library.
Library load_copy();
bool is_loaded(const Library& library);

}  // namespace stress
