// SPDX-License-Identifier: Apache-2.0
#include "vulkan/options.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/error.h"

namespace arrowdevice::vulkan {
namespace {

struct Word {
  std::string_view text;
  bool Options::*option;
};

constexpr Word kWithout[] = {
    {"timeline_semaphores", &Options::timeline_semaphores},
    {"external_memory_host", &Options::external_memory_host},
    {"external_memory_fd", &Options::external_memory_fd},
    {"direct_mapping", &Options::direct_mapping},
    {"memory_budget", &Options::memory_budget},
};
constexpr Word kWith[] = {{"transfer_family", &Options::transfer_family}};
constexpr Word kForce[] = {{"noncoherent", &Options::noncoherent}};

void read_words(Options& options, const char* variable, std::span<const Word> words, bool value) {
  std::vector<std::string_view> known;
  for (const Word& one : words) known.push_back(one.text);
  for (const auto& text : environment::words(variable, known)) {
    const auto word = std::ranges::find(words, text, &Word::text);
    options.*(word->option) = value;
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
  read_words(options, "ARROWDEVICE_VULKAN_WITH", kWith, true);
  read_words(options, "ARROWDEVICE_VULKAN_FORCE", kForce, true);
  return options;
}

}  // namespace arrowdevice::vulkan
