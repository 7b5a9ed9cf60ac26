// SPDX-License-Identifier: Apache-2.0
// Common code of the entry points of the stand-in for a Level Zero driver, which the real loader loads. The stand-in
// has only the entry points that the backend and the conformance cases use.
//
//   STANDIN_ZE_API_VERSION     "1.4": the version of Level Zero that the driver reports; default 1.6, as Intel's
//                              drivers from mid-2024 to mid-2025. Version 1.10 added zeInitDrivers, 1.13 entry
//                              points in handles, 1.14 a flag for the offload of copies
//   STANDIN_ZE_DRIVER_BUILD    the build of Intel's driver: 32224, of December 2024. Below version 1.6 it is
//                              26241, which has no in-order lists yet
//   STANDIN_ZE_LACKS           "zeContextCreate": an entry point that is missing
//   STANDIN_ZE_DEVICE_TYPE     "vpu": the type of its devices; default GPU
//   STANDIN_ZE_COMPUTE_ENGINES number of engines that compute and copy: 1
//   STANDIN_ZE_COPY_ENGINES    number of main engines that only copy: 1
//   STANDIN_ZE_LINK_ENGINES    number of link engines that only copy: 7
//   STANDIN_ZE_INTEGRATED      1 if the GPUs are integrated: 0
//   STANDIN_ZE_DEVICE_ID       PCI id of the GPUs: 0xbd5, a discrete GPU with link engines
//   STANDIN_ZE_SYSTEM_MEMORY   1 if devices can access all host memory: 0
//   STANDIN_NO_DESCRIPTORS     set if the driver does not know external memory
//   STANDIN_ZE_OTHER_CONTEXTS  1 if contexts know each other's memory, as in Intel's driver: 0
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <vector>

#include "level_zero/handles.h"
#include "level_zero/objects.h"
#include "machine/entry_point.h"

// Begins each entry point. Returns a planned failure.
#define BEGIN(call) \
  ENTER(call);      \
  if (const ze_result_t early = standin::level_zero::begin(kCall, failing)) return early

// Begins each entry point that frees or destroys. Such a call may report a failure of earlier work, but it
// frees the object in any case.
#define BEGIN_GIVING_BACK(call)                                        \
  ENTER(call);                                                         \
  const ze_result_t late = standin::level_zero::begin(kCall, failing); \
  if (standin::level_zero::is_lost()) return late

namespace standin::level_zero {

using standin::value_of;

// Records that zeInit or zeInitDrivers was called.
void start();

// Returns the result of a call that is planned to fail with `failing`, or 0. After the device is lost, every later call
// fails.
ze_result_t begin(const char* call, int failing);
bool is_lost();

Objects& objects();
const std::vector<ze_device_handle_t>& devices();
// Ends the process if the handle is not that of a device.
int ordinal_of(ze_device_handle_t device, const char* call);

template <typename Struct>
void check_type(const Struct* description, ze_structure_type_t type, const char* call) {
  if (description == nullptr || description->stype != type) violation("%s: the struct does not say what it is", call);
}

}  // namespace standin::level_zero
