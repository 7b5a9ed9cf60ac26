// SPDX-License-Identifier: Apache-2.0
#include "opencl/api.h"

#include <dlfcn.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <mutex>

#include "base/environment.h"
#include "base/error.h"

namespace arrowdevice::opencl {
namespace {

constexpr const char* kLibrary = "libOpenCL.so.1";
constexpr const char* kVariable = "ARROWDEVICE_OPENCL_LIBRARY";

std::mutex opening;
std::atomic<const Api*> opened{nullptr};

std::string library_name() {
  const auto chosen = environment::text(kVariable);
  if (!chosen) return kLibrary;
  if (!chosen->starts_with('/')) throw Error(ENODEV, std::string(kVariable) + " takes an absolute path only");
  return *chosen;
}

std::string last_problem() {
  const char* const text = dlerror();
  return text != nullptr ? text : "dlopen failed";
}

template <typename Function>
void look_up(void* library, const char* name, Function*& out, bool required) {
  out = reinterpret_cast<Function*>(dlsym(library, name));
  if (out == nullptr && required) {
    throw Error(ENODEV, "the OpenCL loader is older than OpenCL 1.2: " + last_problem());
  }
}

const Api* load() {
  const std::string name = library_name();
  // Never closed, because drivers keep threads and exit handlers.
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw Error(ENODEV, last_problem());
  Api functions;
#define X(name) look_up(library, #name, functions.name, true);
#define Y(name) look_up(library, #name, functions.name, false);
#include "opencl/symbols.inc"
#undef X
#undef Y
  return new Api(functions);
}

}  // namespace

const Api& open_api() {
  if (const auto* functions = opened.load(std::memory_order_acquire)) return *functions;
  const std::lock_guard lock(opening);
  if (opened.load(std::memory_order_relaxed) == nullptr) opened.store(load(), std::memory_order_release);
  return *opened.load(std::memory_order_relaxed);
}

const Api& api() noexcept {
  const auto* const functions = opened.load(std::memory_order_acquire);
  assert(functions != nullptr);
  return *functions;
}

}  // namespace arrowdevice::opencl
