// SPDX-License-Identifier: Apache-2.0
// What the loader asks a driver for: a table of entry points for each kind of object. It refuses a driver that lacks
// any of these functions; what a table lacks, it answers itself.
#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

ze_result_t check(ze_api_version_t version, const void* table) {
  if (table == nullptr) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  constexpr auto kCurrent = ZE_MAJOR_VERSION(ZE_API_VERSION_CURRENT);
  return ZE_MAJOR_VERSION(version) == kCurrent ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

}  // namespace

EXPORT ze_result_t zeGetGlobalProcAddrTable(ze_api_version_t version, ze_global_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  table->pfnInit = zeInit;
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetDriverProcAddrTable(ze_api_version_t version, ze_driver_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  table->pfnGet = zeDriverGet;
  table->pfnGetApiVersion = zeDriverGetApiVersion;
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetDeviceProcAddrTable(ze_api_version_t version, ze_device_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  table->pfnGet = zeDeviceGet;
  table->pfnGetProperties = zeDeviceGetProperties;
  table->pfnGetMemoryProperties = zeDeviceGetMemoryProperties;
  table->pfnGetMemoryAccessProperties = zeDeviceGetMemoryAccessProperties;
  table->pfnGetCommandQueueGroupProperties = zeDeviceGetCommandQueueGroupProperties;
  table->pfnCanAccessPeer = zeDeviceCanAccessPeer;
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetContextProcAddrTable(ze_api_version_t version, ze_context_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  table->pfnCreate = zeContextCreate;
  table->pfnDestroy = zeContextDestroy;
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetCommandListProcAddrTable(ze_api_version_t version, ze_command_list_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  table->pfnCreateImmediate = zeCommandListCreateImmediate;
  table->pfnDestroy = zeCommandListDestroy;
  table->pfnAppendBarrier = zeCommandListAppendBarrier;
  table->pfnAppendMemoryCopy = zeCommandListAppendMemoryCopy;
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetEventPoolProcAddrTable(ze_api_version_t version, ze_event_pool_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  table->pfnCreate = zeEventPoolCreate;
  table->pfnDestroy = zeEventPoolDestroy;
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetEventProcAddrTable(ze_api_version_t version, ze_event_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  table->pfnCreate = zeEventCreate;
  table->pfnDestroy = zeEventDestroy;
  table->pfnHostReset = zeEventHostReset;
  table->pfnQueryStatus = zeEventQueryStatus;
  table->pfnHostSynchronize = zeEventHostSynchronize;
  return ZE_RESULT_SUCCESS;
}

EXPORT ze_result_t zeGetMemProcAddrTable(ze_api_version_t version, ze_mem_dditable_t* table) {
  if (const auto refused = check(version, table)) return refused;
  table->pfnAllocDevice = zeMemAllocDevice;
  table->pfnAllocHost = zeMemAllocHost;
  table->pfnAllocShared = zeMemAllocShared;
  table->pfnFree = zeMemFree;
  table->pfnGetAllocProperties = zeMemGetAllocProperties;
  table->pfnGetAddressRange = zeMemGetAddressRange;
  return ZE_RESULT_SUCCESS;
}

// The objects that the backend does not use.
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
