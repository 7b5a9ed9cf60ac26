// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace soak {

namespace {

constexpr const char* kUsage =
    "soak [--minutes=N | --seconds=N | --operations=N] [--round=SECONDS] [--threads=N] [--faults=PERCENT] [--seed=N]\n"
    "     [--simulated-only] [--mistake=half-a-copy | --mistake=failure | --mistake=leak]\n";

[[noreturn]] void refuse(std::string_view word) {
  std::fprintf(stderr, "soak: %.*s is not understood\n%s", static_cast<int>(word.size()), word.data(), kUsage);
  std::exit(2);
}

int64_t number_in(std::string_view word, size_t at) {
  const std::string digits(word.substr(at));
  char* end = nullptr;
  const int64_t number = std::strtoll(digits.c_str(), &end, 10);
  if (digits.empty() || *end != '\0' || number < 0) refuse(word);
  return number;
}

Mistake mistake_in(std::string_view word) {
  const std::string_view name = word.substr(word.find('=') + 1);
  if (name == "half-a-copy") return Mistake::kHalfACopy;
  if (name == "failure") return Mistake::kFailure;
  if (name == "leak") return Mistake::kLeak;
  refuse(word);
}

}  // namespace

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto takes = [&](std::string_view name, int64_t& value, int64_t unit = 1) {
      const bool is_it = word.starts_with(name);
      if (is_it) value = number_in(word, name.size()) * unit;
      return is_it;
    };
    if (takes("--minutes=", options.seconds, 60) || takes("--seconds=", options.seconds) ||
        takes("--round=", options.round_seconds) || takes("--threads=", options.threads) ||
        takes("--faults=", options.fault_percent) || takes("--seed=", options.seed) ||
        takes("--operations=", options.operations)) {
      continue;
    }
    if (word == "--simulated-only") {
      options.simulated_only = true;
    } else if (word.starts_with("--mistake=")) {
      options.mistake = mistake_in(word);
    } else {
      refuse(word);
    }
  }
  return options;
}

}  // namespace soak
