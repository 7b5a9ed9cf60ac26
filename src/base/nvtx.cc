// SPDX-License-Identifier: Apache-2.0
#include "base/nvtx.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/environment.h"
#include "base/log.h"

namespace arrowdevice::nvtx {
namespace {

// These declarations follow version 3 of NVTX. A profiler asks for a table of callbacks, and through it for a table of
// each module. An entry points to a slot, in which the profiler stores its function.
constexpr uint32_t kVersion = 3;
constexpr uint32_t kTableOfCallbacks = 1;
constexpr uint32_t kTableOfVersion = 3;
constexpr size_t kModuleOfDomains = 5;
constexpr size_t kPushInDomain = 4;
constexpr size_t kPopInDomain = 5;
constexpr size_t kCreateDomain = 12;
// The number of entries of each module. The first entry of a module has no slot, and there is no first module.
constexpr std::array<unsigned, 7> kEntries = {0, 16, 9, 15, 7, 16, 7};
constexpr size_t kMostEntries = 16;

constexpr int32_t kText = 1;

struct EventAttributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  uint64_t payload;
  int32_t message_type;
  const char* message;
};

extern "C" {
using Slot = void (*)();
using GetModule = int(int module, Slot*** out_table, unsigned* out_size);
using GetTable = const void*(uint32_t table);
using Initialize = int(GetTable* get_table);
using CreateDomain = void*(const char* name);
using Push = int(void* domain, const EventAttributes* attributes);
using Pop = int(void* domain);

struct Callbacks {
  size_t struct_size;
  GetModule* get_module;
};

struct VersionInfo {
  size_t struct_size;
  uint32_t version;
  uint32_t reserved;
  void (*set_version_of_profiler)(uint32_t version);
};
}

// The slots of all modules. A profiler may also fill those that the library does not use.
struct Slots {
  Slots() {
    for (size_t module = 0; module < kEntries.size(); ++module) {
      for (size_t entry = 1; entry < kEntries[module]; ++entry) tables[module][entry] = &slots[module][entry];
    }
  }

  template <typename Function>
  Function* function(size_t entry) const {
    return reinterpret_cast<Function*>(slots[kModuleOfDomains][entry]);
  }

  std::array<std::array<Slot, kMostEntries>, kEntries.size()> slots{};
  std::array<std::array<Slot*, kMostEntries + 1>, kEntries.size()> tables{};  // each ends with NULL
};

Slots& slots() {
  static auto* const made = new Slots;
  return *made;
}

// Set by attach().
Push* push_function = nullptr;
Pop* pop_function = nullptr;
void* domain = nullptr;

extern "C" {
static int give_module(int module, Slot*** out_table, unsigned* out_size) {
  if (module < 1 || static_cast<size_t>(module) >= kEntries.size()) return 0;
  if (out_size != nullptr) *out_size = kEntries[static_cast<size_t>(module)];
  if (out_table != nullptr) *out_table = slots().tables[static_cast<size_t>(module)].data();
  return 1;
}

static void ignore_version(uint32_t /*version*/) {}

static const void* give_table(uint32_t table) {
  static const Callbacks callbacks = {sizeof(Callbacks), give_module};
  static const VersionInfo version = {sizeof(VersionInfo), kVersion, 0, ignore_version};
  switch (table) {
    case kTableOfCallbacks: return &callbacks;
    case kTableOfVersion: return &version;
    default: return nullptr;
  }
}
}

// Returns a message if the profiler cannot be used, or an empty text.
std::string initialize(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    return why != nullptr ? why : "dlopen failed";
  }
  auto* const start = reinterpret_cast<Initialize*>(::dlsym(library, "InitializeInjectionNvtx2"));
  if (start == nullptr) return path + " has no InitializeInjectionNvtx2";
  if (start(give_table) == 0) return path + ": InitializeInjectionNvtx2 failed";
  push_function = slots().function<Push>(kPushInDomain);
  pop_function = slots().function<Pop>(kPopInDomain);
  if (push_function == nullptr || pop_function == nullptr) return {};  // the profiler does not want ranges
  if (auto* const create = slots().function<CreateDomain>(kCreateDomain)) domain = create("libarrowdevice");
  return {};
}

bool load() {
  const auto path = environment::text("NVTX_INJECTION64_PATH");
  if (!path) return false;
  const std::string failure = initialize(*path);
  if (!failure.empty()) log(LogLevel::kWarning, "NVTX_INJECTION64_PATH: " + failure);
  return failure.empty() && push_function != nullptr && pop_function != nullptr;
}

}  // namespace

bool attach() {
  static const bool is_attached = load();
  return is_attached;
}

void push(const char* name) noexcept {
  EventAttributes attributes{};
  attributes.version = kVersion;
  attributes.size = sizeof attributes;
  attributes.message_type = kText;
  attributes.message = name;
  push_function(domain, &attributes);
}

void pop() noexcept { pop_function(domain); }

}  // namespace arrowdevice::nvtx
