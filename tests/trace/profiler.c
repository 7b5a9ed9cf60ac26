/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profiler as NVTX loads it, from NVIDIA's headers. It writes each range to the file that PROFILER_OUTPUT names, a
 * line for each push and pop. PROFILER_MODE=refuses makes its start fail, and PROFILER_MODE=idle lets it take nothing.
 */
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number of entries of each module, from the headers. */
static const unsigned expected_sizes[NVTX_CB_MODULE_SIZE] = {0,
                                                             NVTX_CBID_CORE_SIZE,
                                                             NVTX_CBID_CUDA_SIZE,
                                                             NVTX_CBID_OPENCL_SIZE,
                                                             NVTX_CBID_CUDART_SIZE,
                                                             NVTX_CBID_CORE2_SIZE,
                                                             NVTX_CBID_SYNC_SIZE};

static char domain_of_library[64];

static void note(const char* format, ...) {
  FILE* const file = fopen(getenv("PROFILER_OUTPUT"), "ae");
  if (file == NULL) abort();
  fprintf(file, "%ld ", syscall(SYS_gettid));
  va_list arguments;
  va_start(arguments, format);
  vfprintf(file, format, arguments);
  va_end(arguments);
  fputc('\n', file);
  if (fclose(file) != 0) abort();
}

static nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  snprintf(domain_of_library, sizeof domain_of_library, "%s", name);
  return (nvtxDomainHandle_t)domain_of_library;
}

static int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  if (attributes->version != NVTX_VERSION || attributes->size != NVTX_EVENT_ATTRIB_STRUCT_SIZE ||
      attributes->messageType != NVTX_MESSAGE_TYPE_ASCII || attributes->colorType != NVTX_COLOR_UNKNOWN ||
      attributes->payloadType != NVTX_PAYLOAD_UNKNOWN || attributes->category != 0) {
    note("wrong attributes");
  }
  note("push %s: %s", (const char*)domain, attributes->message.ascii);
  return 0;
}

static int NVTX_API pop(nvtxDomainHandle_t domain) {
  note("pop %s", (const char*)domain);
  return 0;
}

static void check_tables(const NvtxExportTableCallbacks* callbacks) {
  for (int module = NVTX_CB_MODULE_CORE; module < NVTX_CB_MODULE_SIZE; ++module) {
    NvtxFunctionTable table = NULL;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable((NvtxCallbackModule)module, &table, &size)) note("no module %d", module);
    if (size != expected_sizes[module]) note("module %d has %u entries", module, size);
    for (unsigned i = 1; i < size; ++i) {
      if (table[i] == NULL || *table[i] != NULL) note("entry %u of module %d is not free", i, module);
    }
    if (table[0] != NULL || table[size] != NULL) note("module %d does not begin and end with NULL", module);
  }
  NvtxFunctionTable table = NULL;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_SIZE, &table, NULL)) note("there are too many modules");
}

static int check_export_tables(NvtxGetExportTableFunc_t get_table) {
  const NvtxExportTableVersionInfo* const version = get_table(NVTX_ETID_VERSIONINFO);
  if (version == NULL || version->struct_size != sizeof *version || version->version != NVTX_VERSION) {
    note("wrong version");
  } else {
    version->SetInjectionNvtxVersion(NVTX_VERSION);
  }
  if (get_table(NVTX_ETID_SIZE) != NULL) note("there are too many tables");
  const NvtxExportTableCallbacks* const callbacks = get_table(NVTX_ETID_CALLBACKS);
  if (callbacks == NULL || callbacks->struct_size != sizeof *callbacks) note("wrong callbacks");
  return callbacks != NULL;
}

NVTX_DYNAMIC_EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
NVTX_DYNAMIC_EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const char* const mode = getenv("PROFILER_MODE");
  if (mode != NULL && strcmp(mode, "refuses") == 0) return 0;
  if (!check_export_tables(get_table)) return 0;
  const NvtxExportTableCallbacks* const callbacks = get_table(NVTX_ETID_CALLBACKS);
  check_tables(callbacks);
  if (mode != NULL && strcmp(mode, "idle") == 0) return 1;
  NvtxFunctionTable table = NULL;
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, NULL);
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create_domain;
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
  return 1;
}
