// SPDX-License-Identifier: Apache-2.0
#include "drivers/vulkan/driver.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "drivers/machine/control.h"
#include "drivers/vulkan/discrete.h"
#include "drivers/vulkan/unordered.h"
#include "vulkan/functions.h"

namespace {

#define X_PLAIN(name) k_##name,
#define X_OPTIONAL(name, suffix) k_##name,
enum Index : int {
  ARROWDEVICE_VULKAN_GLOBAL_FUNCTIONS(X_PLAIN) ARROWDEVICE_VULKAN_INSTANCE_FUNCTIONS(X_PLAIN)
      ARROWDEVICE_VULKAN_DEVICE_FUNCTIONS(X_PLAIN) ARROWDEVICE_VULKAN_OPTIONAL_FUNCTIONS(X_OPTIONAL) kCount
};
#undef X_PLAIN
#undef X_OPTIONAL

struct Function {
  const char* name;
  PFN_vkVoidFunction wrapper;
  bool fallible;
  std::atomic<PFN_vkVoidFunction> real{nullptr};
  std::atomic<int64_t> calls{0};
};
extern Function functions[kCount];

struct Control {
  std::mutex mutex;
  int index = -1;  // index of the function that fails
  int64_t left = 0;
  VkResult result = VK_SUCCESS;
  bool loses = false;
  int acting = -1;  // index of the function before which `act` is called
  void (*act)(void*) = nullptr;
  void* user = nullptr;
  std::atomic<bool> lost{false};
  std::atomic<int64_t> live{0};
  std::atomic<int64_t> failed{0};
  std::map<VkInstance, VkDebugUtilsMessengerEXT> messengers;
} control;

// Returns the result of a planned failure, or VK_SUCCESS if the call is to be forwarded.
VkResult failure_of(int index) {
  if (control.lost.load()) return VK_ERROR_DEVICE_LOST;
  const std::lock_guard lock(control.mutex);
  if (control.index != index || --control.left != 0) return VK_SUCCESS;
  control.index = -1;
  ++control.failed;
  if (control.loses) control.lost.store(true);
  return control.result;
}

void act_before(int index) {
  void (*act)(void*) = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(control.mutex);
    if (control.acting != index) return;
    control.acting = -1;
    act = control.act;
    user = control.user;
  }
  act(user);  // `act` calls Vulkan itself
}

// Returns true if the function creates or allocates an object of a device. Instances and devices do not
// count.
bool makes_object(const char* name) {
  return (std::strncmp(name, "vkCreate", 8) == 0 && std::strcmp(name, "vkCreateInstance") != 0 &&
          std::strcmp(name, "vkCreateDevice") != 0) ||
         std::strcmp(name, "vkAllocateMemory") == 0;
}
bool ends_object(const char* name) {
  return (std::strncmp(name, "vkDestroy", 9) == 0 && std::strcmp(name, "vkDestroyInstance") != 0 &&
          std::strcmp(name, "vkDestroyDevice") != 0) ||
         std::strcmp(name, "vkFreeMemory") == 0;
}

// Drivers of GPUs pin imported host memory, and refuse pages that are not mapped. Lavapipe does not look at them.
bool imports_unmapped_pages(VkDevice, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks*, VkDeviceMemory*) {
  for (const auto* next = static_cast<const VkBaseInStructure*>(info->pNext); next != nullptr; next = next->pNext) {
    if (next->sType != VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT) continue;
    void* const begin = reinterpret_cast<const VkImportMemoryHostPointerInfoEXT*>(next)->pHostPointer;
    if (::msync(begin, static_cast<size_t>(info->allocationSize), MS_ASYNC) != 0) return true;
  }
  return false;
}

template <int index, typename Pointer>
struct Wrapper;

template <int index, typename Result, typename... Arguments>
struct Wrapper<index, Result (*)(Arguments...)> {
  static constexpr bool kFallible = std::is_same_v<Result, VkResult>;

  static Result call(Arguments... arguments) {
    Function& function = functions[index];
    ++function.calls;
    act_before(index);
    const auto real = reinterpret_cast<Result (*)(Arguments...)>(function.real.load());
    if constexpr (kFallible) {
      const VkResult failure = failure_of(index);
      if (failure != VK_SUCCESS) return failure;
      if constexpr (index == k_vkAllocateMemory) {
        if (imports_unmapped_pages(arguments...)) return VK_ERROR_INVALID_EXTERNAL_HANDLE;
      }
      const VkResult result = real(arguments...);
      if (result >= 0 && makes_object(function.name)) ++control.live;
      return result;
    } else {
      if (ends_object(function.name)) --control.live;
      return real(arguments...);
    }
  }
};

PFN_vkVoidFunction disguise(const char* name, PFN_vkVoidFunction real) {
  return unordered::disguise(name, discrete::disguise(name, real));
}

PFN_vkGetInstanceProcAddr real_get() {
  static const auto get = [] {
    // The loader unloads Lavapipe with the last instance. This handle keeps Lavapipe loaded, so that a leak
    // checker can name the library of a leak. If the library is missing, the loader reports that.
    [[maybe_unused]] void* const kept = dlopen("libvulkan_lvp.so", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    void* const loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (loader == nullptr) {
      std::fprintf(stderr, "vulkan test driver: %s\n", dlerror());
      std::abort();
    }
    return reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(loader, "vkGetInstanceProcAddr"));
  }();
  return get;
}

bool validates() {
  const char* const value = std::getenv("ARROWDEVICE_TEST_VULKAN_VALIDATION");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

// A validation message shows an error of ours. The program ends at that call, so that a debugger shows it.
VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  std::fprintf(stderr, "the Vulkan validation layer says: %s\n", data->pMessage);
  std::abort();
}

VkResult create_instance(const VkInstanceCreateInfo* asked, const VkAllocationCallbacks* allocator, VkInstance* out) {
  ++functions[k_vkCreateInstance].calls;
  const VkResult failure = failure_of(k_vkCreateInstance);
  if (failure != VK_SUCCESS) return failure;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(real_get()(VK_NULL_HANDLE, "vkCreateInstance"));
  VkInstanceCreateInfo info = *asked;
  std::vector<const char*> layers(info.ppEnabledLayerNames, info.ppEnabledLayerNames + info.enabledLayerCount);
  std::vector<const char*> extensions(info.ppEnabledExtensionNames,
                                      info.ppEnabledExtensionNames + info.enabledExtensionCount);
  const VkValidationFeatureEnableEXT enabled[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT features{};
  features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = enabled;
  VkDebugUtilsMessengerCreateInfoEXT messenger{};
  messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  messenger.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  messenger.pfnUserCallback = on_message;
  if (validates()) {
    layers.push_back("VK_LAYER_KHRONOS_validation");
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    messenger.pNext = info.pNext;  // for messages while the instance is created and destroyed
    features.pNext = &messenger;
    info.pNext = &features;
    info.enabledLayerCount = static_cast<uint32_t>(layers.size());
    info.ppEnabledLayerNames = layers.data();
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
  }
  const VkResult result = create(&info, allocator, out);
  if (result < 0) return result;
  // The loader's functions work for every instance and device.
  for (Function& function : functions) {
    PFN_vkVoidFunction real = real_get()(*out, function.name);
    if (real == nullptr) real = real_get()(*out, (std::string(function.name) + "KHR").c_str());
    if (real != nullptr) function.real = disguise(function.name, real);
  }
  if (validates()) {
    const auto make =
        reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(real_get()(*out, "vkCreateDebugUtilsMessengerEXT"));
    VkDebugUtilsMessengerEXT made = VK_NULL_HANDLE;
    messenger.pNext = nullptr;
    if (make(*out, &messenger, nullptr, &made) != VK_SUCCESS) std::abort();
    const std::lock_guard lock(control.mutex);
    control.messengers[*out] = made;
  }
  return result;
}

void destroy_instance(VkInstance instance, const VkAllocationCallbacks* allocator) {
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  {
    const std::lock_guard lock(control.mutex);
    const auto found = control.messengers.extract(instance);
    if (!found.empty()) messenger = found.mapped();
  }
  if (messenger != VK_NULL_HANDLE) {
    reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(real_get()(instance, "vkDestroyDebugUtilsMessengerEXT"))(
        instance, messenger, nullptr);
  }
  reinterpret_cast<PFN_vkDestroyInstance>(functions[k_vkDestroyInstance].real.load())(instance, allocator);
}

Function* find(const char* name) {
  for (Function& function : functions) {
    const size_t length = std::strlen(function.name);
    if (std::strncmp(name, function.name, length) != 0) continue;
    if (name[length] == '\0' || std::strcmp(name + length, "KHR") == 0) return &function;
  }
  return nullptr;
}

PFN_vkVoidFunction get_device_function(VkDevice device, const char* name) {
  const auto get = reinterpret_cast<PFN_vkGetDeviceProcAddr>(functions[k_vkGetDeviceProcAddr].real.load());
  const PFN_vkVoidFunction real = get(device, name);
  Function* const function = find(name);
  return real != nullptr && function != nullptr ? function->wrapper : real;
}

#define X_PLAIN(symbol)                                                                      \
  {.name = #symbol,                                                                          \
   .wrapper = reinterpret_cast<PFN_vkVoidFunction>(Wrapper<k_##symbol, PFN_##symbol>::call), \
   .fallible = Wrapper<k_##symbol, PFN_##symbol>::kFallible},
#define X_OPTIONAL(symbol, suffix) X_PLAIN(symbol)
Function functions[kCount] = {ARROWDEVICE_VULKAN_GLOBAL_FUNCTIONS(X_PLAIN) ARROWDEVICE_VULKAN_INSTANCE_FUNCTIONS(
    X_PLAIN) ARROWDEVICE_VULKAN_DEVICE_FUNCTIONS(X_PLAIN) ARROWDEVICE_VULKAN_OPTIONAL_FUNCTIONS(X_OPTIONAL)};
#undef X_PLAIN
#undef X_OPTIONAL

void choose(const char* function, int64_t nth, VkResult result, bool loses) {
  const std::lock_guard lock(control.mutex);
  control.index = -1;
  if (function == nullptr) return;
  const Function* const found = find(function);
  if (found == nullptr || !found->fallible) {
    std::fprintf(stderr, "vulkan test driver: %s cannot be made to fail\n", function);
    std::abort();
  }
  control.index = static_cast<int>(found - functions);
  control.left = nth;
  control.result = result;
  control.loses = loses;
}

void fail(const char* function, int64_t nth, int32_t result) {
  choose(function, nth, static_cast<VkResult>(result), false);
}

void lose(const char* function, int64_t nth) { choose(function, nth, VK_ERROR_DEVICE_LOST, true); }

int64_t calls(const char* name) {
  const Function* const function = find(name);
  return function == nullptr ? -1 : function->calls.load();
}

const char* const* fallible() {
  static const char* names[kCount + 1] = {};
  size_t n = 0;
  for (const Function& function : functions) {
    if (function.fallible) names[n++] = function.name;
  }
  return names;
}

int64_t live() { return control.live.load(); }

void before_next(const char* function, void (*act)(void*), void* user) {
  const Function* const found = find(function);
  if (found == nullptr) {
    std::fprintf(stderr, "vulkan test driver: the backend uses no function %s\n", function);
    std::abort();
  }
  const std::lock_guard lock(control.mutex);
  control.acting = static_cast<int>(found - functions);
  control.act = act;
  control.user = user;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT const char* standin_entry_point(int64_t index) {
  const char* const* const names = fallible();
  int64_t n = 0;
  while (names[n] != nullptr && n < index) ++n;
  return names[n];
}
EXPORT void standin_fail_nth(const char* call, int64_t n, int code) {
  fail(call, n, code != 0 ? code : VK_ERROR_OUT_OF_HOST_MEMORY);
}
EXPORT void standin_fail_no_more() { fail(nullptr, 0, 0); }
EXPORT int64_t standin_calls(const char* call) { return calls(call); }
EXPORT int64_t standin_failed() { return control.failed; }
EXPORT void standin_live(int64_t* objects, int64_t* queues, int64_t* events) {
  *objects = live();
  *queues = *events = 0;
}

extern "C" __attribute__((visibility("default"))) const VulkanDriverControl* vulkan_driver_control() {
  static const VulkanDriverControl table = {fail, lose, calls, fallible, live, before_next};
  return &table;
}

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vkGetInstanceProcAddr(VkInstance instance, const char* name) {
  if (std::strcmp(name, "vkGetInstanceProcAddr") == 0) {
    return reinterpret_cast<PFN_vkVoidFunction>(vkGetInstanceProcAddr);
  }
  if (std::strcmp(name, "vkCreateInstance") == 0) return reinterpret_cast<PFN_vkVoidFunction>(create_instance);
  if (std::strcmp(name, "vkDestroyInstance") == 0) return reinterpret_cast<PFN_vkVoidFunction>(destroy_instance);
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return reinterpret_cast<PFN_vkVoidFunction>(get_device_function);
  const PFN_vkVoidFunction real = real_get()(instance, name);
  Function* const function = find(name);
  if (real == nullptr || function == nullptr) return real;
  if (function->real.load() == nullptr) function->real = disguise(function->name, real);
  return function->wrapper;
}
