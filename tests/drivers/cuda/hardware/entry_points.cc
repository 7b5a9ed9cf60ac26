// SPDX-License-Identifier: Apache-2.0
// Asks the driver for each entry point that the backend uses, before anything else is asked of it.
#include <dlfcn.h>

#include "cuda/api.h"
#include "cuda/hardware/report.h"
#include "cuda/symbols.h"

namespace {

using arrowdevice::cuda::CUdriverProcAddressQueryResult;
using arrowdevice::cuda::cuuint64_t;

constexpr cuuint64_t kLegacyStream = 1;

using GetProcAddress = int(const char* symbol, void** function, int version, cuuint64_t flags,
                           CUdriverProcAddressQueryResult* status);

template <typename Function>
Function* find(void* library, const char* symbol) {
  auto* const function = reinterpret_cast<Function*>(::dlsym(library, symbol));
  if (function == nullptr) throw std::runtime_error(std::string("libcuda.so.1 has no ") + symbol);
  return function;
}

std::string in_words(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

void must(int result, const char* call) {
  if (result != 0) throw std::runtime_error(std::string(call) + " gave " + std::to_string(result));
}

}  // namespace

int main() {
  return hardware::run([](hardware::Report& report) {
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) throw std::runtime_error(::dlerror());
    int driver = 0;
    must(find<int(int*)>(library, "cuDriverGetVersion")(&driver), "cuDriverGetVersion");
    std::printf("libcuda.so.1 is a driver for CUDA %s\n", in_words(driver).c_str());
    auto* const get = find<GetProcAddress>(library, "cuGetProcAddress_v2");

    const auto look_up = [&](const std::string& name, int version, const std::string& suffix) {
      const std::string title = name + " of CUDA " + in_words(version) + " is there";
      if (version > driver) return report.not_run(title, "the driver is older");
      report.check(title, [&] {
        void* function = nullptr;
        CUdriverProcAddressQueryResult status{};
        const std::string entry = arrowdevice::cuda::entry_name(name);
        must(get(entry.c_str(), &function, version, kLegacyStream, &status), "cuGetProcAddress_v2");
        if (function == nullptr) throw std::runtime_error("it is NULL, status " + std::to_string(status));
        find<void()>(library, (entry + suffix).c_str());  // drivers before CUDA 11.3 are asked in this way
      });
    };
#define X(name, version, suffix, parameters) look_up(#name, version, suffix);
    ARROWDEVICE_CUDA_SYMBOLS(X)
#undef X
#define X(name, version, suffix) look_up(#name, version, suffix);
    ARROWDEVICE_CUDA_NEWER_FORMS(X)
#undef X

    report.check("the driver starts and has a GPU", [&] {
      int count = 0;
      must(find<int(unsigned)>(library, "cuInit")(0), "cuInit");
      must(find<int(int*)>(library, "cuDeviceGetCount")(&count), "cuDeviceGetCount");
      if (count < 1) throw std::runtime_error("it has none");
    });
  });
}
