// SPDX-License-Identifier: Apache-2.0
#include "vulkan/options.h"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/environment.h"
#include "base/error.h"

namespace arrowdevice::vulkan {
namespace {

struct Word {
  const char* text;
  bool Options::*option;
};

constexpr Word kWithout[] = {
    {"timeline_semaphores", &Options::timeline_semaphores},
    {"external_memory_host", &Options::external_memory_host},
    {"direct_mapping", &Options::direct_mapping},
    {"transfer_family", &Options::transfer_family},
    {"memory_budget", &Options::memory_budget},
};
constexpr Word kForce[] = {{"noncoherent", &Options::noncoherent}};

template <size_t n>
void read_words(Options& options, const char* variable, const Word (&words)[n], bool value) {
  for (const auto& text : environment::list(variable, ',')) {
    const auto* word = std::ranges::find_if(words, [&](const Word& one) { return text == one.text; });
    if (word != std::end(words)) {
      options.*(word->option) = value;
      continue;
    }
    std::string known;
    for (const Word& one : words) known += (known.empty() ? "" : ", ") + std::string(one.text);
    throw Error(EINVAL, std::string(variable) + ": \"" + text + "\" is none of " + known);
  }
}

}  // namespace

Options Options::from_environment() {
  Options options;
  if (const auto library = environment::text("ARROWDEVICE_VULKAN_LIBRARY")) {
    if (library->front() != '/') {
      throw Error(EINVAL, "ARROWDEVICE_VULKAN_LIBRARY=" + *library + ": not an absolute path");
    }
    options.library = *library;
  }
  read_words(options, "ARROWDEVICE_VULKAN_WITHOUT", kWithout, false);
  read_words(options, "ARROWDEVICE_VULKAN_FORCE", kForce, true);
  return options;
}

}  // namespace arrowdevice::vulkan
