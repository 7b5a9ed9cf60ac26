// SPDX-License-Identifier: Apache-2.0
#include "level_zero/sycl_event.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/deadline.h"
#include "base/error.h"

namespace arrowdevice::level_zero {
namespace {

// The mangled names of sycl::event::wait() and sycl::event::get_info<sycl::info::event::command_execution_status>().
// Runtimes export the first pair from libsycl.so.6 (2023) on, and the second pair before it.
struct Generation {
  const char* wait;
  const char* status;
};
constexpr Generation kGenerations[] = {
    {"_ZN4sycl3_V15event4waitEv",
     "_ZNK4sycl3_V15event8get_infoINS0_4info5event24command_execution_statusEEENS0_6detail18is_event_info_descIT_"
     "E11return_typeEv"},
    {"_ZN2cl4sycl5event4waitEv",
     "_ZNK2cl4sycl5event8get_infoILNS0_4info5eventE4563EEENS3_12param_traitsIS4_XT_EE11return_typeEv"},
};

// Value of info::event_command_status, the same in all runtimes.
constexpr int32_t kComplete = 0;

// Matches names such as libsycl.so.8 and libsycl-preview.so.9.
bool is_runtime(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  return name.starts_with("libsycl.so") || name.starts_with("libsycl-preview.so");
}

int collect(dl_phdr_info* info, size_t, void* paths) noexcept {
  try {
    if (info->dlpi_name != nullptr && is_runtime(info->dlpi_name)) {
      static_cast<std::vector<std::string>*>(paths)->emplace_back(info->dlpi_name);
    }
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

// Returns loaded runtimes of any version.
std::vector<std::string> loaded_runtimes() {
  std::vector<std::string> paths;
  if (::dl_iterate_phdr(collect, &paths) != 0) throw std::bad_alloc();
  return paths;
}

[[noreturn]] void rethrow_as_error(const char* call) {
  try {
    throw;
  } catch (const std::exception& e) {
    throw Error(EIO, std::string(call) + ": " + e.what());
  } catch (...) {
    throw Error(EIO, std::string(call) + ": the SYCL runtime threw an exception of unknown type");
  }
}

// Intervals between polls. They grow from the first to the longest.
constexpr std::chrono::microseconds kFirstPause{5};
constexpr std::chrono::microseconds kLongestPause{500};

}  // namespace

SyclRuntime SyclRuntime::of(std::shared_ptr<void> library) {
  for (const Generation& generation : kGenerations) {
    if (void* const wait = ::dlsym(library.get(), generation.wait)) {
      void* const status = ::dlsym(library.get(), generation.status);
      return {std::move(library), reinterpret_cast<Wait*>(wait), reinterpret_cast<Status*>(status)};
    }
  }
  return {nullptr, nullptr, nullptr};
}

SyclRuntime SyclRuntime::find() {
  const auto paths = loaded_runtimes();
  if (paths.size() > 1) {
    std::string all;
    for (const auto& path : paths) all += (all.empty() ? "" : ", ") + path;
    throw Error(ENOTSUP, "sync_event is a sycl::event, and its runtime is one of several that are loaded: " + all);
  }
  // A runtime with another name is found only if its symbols are global, as for a library that the program links with.
  void* const opened =
      paths.empty() ? ::dlopen(nullptr, RTLD_NOW) : ::dlopen(paths.front().c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (opened != nullptr) {
    SyclRuntime found = of(std::shared_ptr<void>(opened, ::dlclose));
    if (found.wait_ != nullptr) return found;
  }
  throw Error(ENOTSUP, paths.empty()
                           ? "sync_event is a sycl::event, which only the SYCL runtime of its producer can wait for, "
                             "and no libsycl.so is loaded in this process"
                           : "sync_event is a sycl::event, and " + paths.front() + " exports no sycl::event::wait()");
}

bool SyclRuntime::is_complete(void* event) const {
  try {
    return status_(event) == kComplete;
  } catch (...) {
    rethrow_as_error("sycl::event::get_info");
  }
}

void SyclRuntime::wait(void* event) const {
  try {
    wait_(event);
  } catch (...) {
    rethrow_as_error("sycl::event::wait");
  }
}

void SyclEvent::check_has_status() const {
  if (!runtime_.has_status()) {
    throw Error(ENOTSUP, "the SYCL runtime that is loaded can wait for a sycl::event without a time-out only");
  }
}

bool SyclEvent::is_ready() {
  if (is_complete_.load(std::memory_order_acquire)) return true;
  check_has_status();
  if (!runtime_.is_complete(event_)) return false;
  // wait() throws the error of failed work.
  wait(ARROWDEVICE_NO_TIMEOUT);
  return true;
}

// Polls if there is a time limit, because sycl::event::wait() has no time limit.
void SyclEvent::wait(int64_t timeout_ns) {
  if (is_complete_.load(std::memory_order_acquire)) return;  // a queue may wait again after the library has waited
  if (timeout_ns == ARROWDEVICE_NO_TIMEOUT) {
    runtime_.wait(event_);
    is_complete_.store(true, std::memory_order_release);
    return;
  }
  const Deadline deadline(timeout_ns);
  for (auto pause = kFirstPause; !is_ready(); pause = std::min(2 * pause, kLongestPause)) {
    const std::chrono::nanoseconds left(deadline.left());
    if (left.count() < 0) {
      throw Error(ETIMEDOUT,
                  format("a sycl::event was still pending after %lld ns", static_cast<long long>(timeout_ns)));
    }
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, left));
  }
}

}  // namespace arrowdevice::level_zero
