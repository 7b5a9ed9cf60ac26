// SPDX-License-Identifier: Apache-2.0
// The tables of entry points that the loader asks a driver for, by kind of object. The loader refuses a
// driver that lacks any of these functions. If a table lacks an entry point, the loader itself fails the
// call. There are two exceptions: loaders from 1.20 call zeDriverGetProperties without a check, and loaders
// from 1.25 call zeDriverGetExtensionProperties without a check.
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "level_zero/handles.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

ze_result_t check(ze_api_version_t version, const void* table) {
  if (table == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  constexpr auto kCurrent = ZE_MAJOR_VERSION(ZE_API_VERSION_CURRENT);
  return ZE_MAJOR_VERSION(version) == kCurrent ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

// Returns true if STANDIN_ZE_LACKS names this entry point.
bool lacks(std::string_view name) {
  const char* const lacking = std::getenv("STANDIN_ZE_LACKS");
  return lacking != nullptr && name == lacking;
}

}  // namespace

#define ENTRY_POINT(member, function) table->member = lacks(#function) ? nullptr : (function)

// Fills the table. The version defines the size of the caller's struct, so an entry point is written only
// if that version has it.
EXPORT ze_result_t zeGetGlobalProcAddrTable(ze_api_version_t version, ze_global_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  struct {
    ze_pfnInit_t init;
    decltype(&standin::level_zero::init_drivers) init_drivers;
  } const entry_points{zeInit, standin::level_zero::init_drivers};
  const bool has_init_drivers = static_cast<uint32_t>(version) >= standin::level_zero::kFirstWithInitDrivers &&
                                standin::level_zero::api_version() >= standin::level_zero::kFirstWithInitDrivers;
  std::memcpy(static_cast<void*>(table), &entry_points, has_init_drivers ? sizeof entry_points : sizeof(void*));
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetDriverProcAddrTable(ze_api_version_t version, ze_driver_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  ENTRY_POINT(pfnGet, zeDriverGet);
  ENTRY_POINT(pfnGetApiVersion, zeDriverGetApiVersion);
  ENTRY_POINT(pfnGetProperties, zeDriverGetProperties);
  ENTRY_POINT(pfnGetExtensionProperties, zeDriverGetExtensionProperties);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetDeviceProcAddrTable(ze_api_version_t version, ze_device_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  ENTRY_POINT(pfnGet, zeDeviceGet);
  ENTRY_POINT(pfnGetProperties, zeDeviceGetProperties);
  ENTRY_POINT(pfnGetMemoryProperties, zeDeviceGetMemoryProperties);
  ENTRY_POINT(pfnGetMemoryAccessProperties, zeDeviceGetMemoryAccessProperties);
  ENTRY_POINT(pfnGetExternalMemoryProperties, zeDeviceGetExternalMemoryProperties);
  ENTRY_POINT(pfnGetCommandQueueGroupProperties, zeDeviceGetCommandQueueGroupProperties);
  ENTRY_POINT(pfnCanAccessPeer, zeDeviceCanAccessPeer);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetContextProcAddrTable(ze_api_version_t version, ze_context_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  ENTRY_POINT(pfnCreate, zeContextCreate);
  ENTRY_POINT(pfnDestroy, zeContextDestroy);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetCommandListProcAddrTable(ze_api_version_t version, ze_command_list_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  ENTRY_POINT(pfnCreateImmediate, zeCommandListCreateImmediate);
  ENTRY_POINT(pfnDestroy, zeCommandListDestroy);
  ENTRY_POINT(pfnAppendBarrier, zeCommandListAppendBarrier);
  ENTRY_POINT(pfnAppendMemoryCopy, zeCommandListAppendMemoryCopy);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetEventPoolProcAddrTable(ze_api_version_t version, ze_event_pool_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  ENTRY_POINT(pfnCreate, zeEventPoolCreate);
  ENTRY_POINT(pfnDestroy, zeEventPoolDestroy);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetEventProcAddrTable(ze_api_version_t version, ze_event_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  ENTRY_POINT(pfnCreate, zeEventCreate);
  ENTRY_POINT(pfnDestroy, zeEventDestroy);
  ENTRY_POINT(pfnHostSignal, zeEventHostSignal);
  ENTRY_POINT(pfnHostReset, zeEventHostReset);
  ENTRY_POINT(pfnQueryStatus, zeEventQueryStatus);
  ENTRY_POINT(pfnHostSynchronize, zeEventHostSynchronize);
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetMemProcAddrTable(ze_api_version_t version, ze_mem_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  ENTRY_POINT(pfnAllocDevice, zeMemAllocDevice);
  ENTRY_POINT(pfnAllocHost, zeMemAllocHost);
  ENTRY_POINT(pfnAllocShared, zeMemAllocShared);
  ENTRY_POINT(pfnFree, zeMemFree);
  ENTRY_POINT(pfnGetAllocProperties, zeMemGetAllocProperties);
  ENTRY_POINT(pfnGetAddressRange, zeMemGetAddressRange);
  return ZE_RESULT_SUCCESS;
}

// Tables of objects that the backend does not use.
#define EMPTY(name, type) \
  EXPORT ze_result_t name(ze_api_version_t version, type* table) { return check(version, table); }
EMPTY(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t)
EMPTY(zeGetFenceProcAddrTable, ze_fence_dditable_t)
EMPTY(zeGetImageProcAddrTable, ze_image_dditable_t)
EMPTY(zeGetKernelProcAddrTable, ze_kernel_dditable_t)
EMPTY(zeGetModuleProcAddrTable, ze_module_dditable_t)
EMPTY(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)
EMPTY(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
EMPTY(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
EMPTY(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
EMPTY(zetGetCommandListProcAddrTable, void)
EMPTY(zetGetContextProcAddrTable, void)
EMPTY(zetGetDebugProcAddrTable, void)
EMPTY(zetGetDeviceProcAddrTable, void)
EMPTY(zetGetKernelProcAddrTable, void)
EMPTY(zetGetMetricProcAddrTable, void)
EMPTY(zetGetMetricGroupProcAddrTable, void)
EMPTY(zetGetMetricQueryProcAddrTable, void)
EMPTY(zetGetMetricQueryPoolProcAddrTable, void)
EMPTY(zetGetMetricStreamerProcAddrTable, void)
EMPTY(zetGetModuleProcAddrTable, void)
EMPTY(zetGetTracerExpProcAddrTable, void)
EMPTY(zesGetDeviceProcAddrTable, void)
EMPTY(zesGetDiagnosticsProcAddrTable, void)
EMPTY(zesGetDriverProcAddrTable, void)
EMPTY(zesGetEngineProcAddrTable, void)
EMPTY(zesGetFabricPortProcAddrTable, void)
EMPTY(zesGetFanProcAddrTable, void)
EMPTY(zesGetFirmwareProcAddrTable, void)
EMPTY(zesGetFrequencyProcAddrTable, void)
EMPTY(zesGetLedProcAddrTable, void)
EMPTY(zesGetMemoryProcAddrTable, void)
EMPTY(zesGetPerformanceFactorProcAddrTable, void)
EMPTY(zesGetPowerProcAddrTable, void)
EMPTY(zesGetPsuProcAddrTable, void)
EMPTY(zesGetRasProcAddrTable, void)
EMPTY(zesGetSchedulerProcAddrTable, void)
EMPTY(zesGetStandbyProcAddrTable, void)
EMPTY(zesGetTemperatureProcAddrTable, void)
