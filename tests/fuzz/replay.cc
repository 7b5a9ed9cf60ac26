// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without a fuzzer, with any compiler. First it runs the named files and folders. Then
// it runs a number of inputs. These are random, or they change some bytes of the files. A seed gives the
// same inputs each time. With --seed=random the seed differs each time and is printed. Input 1234 comes
// again with that seed and --runs=1234.
//
//   fuzz-TARGET [--runs=N] [--seed=N | --seed=random] [FILE | FOLDER]...
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "support/generator.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

int64_t runs = 0;
uint64_t seed = 1;
int64_t executed = 0;
std::vector<Bytes> corpus;

// The current input, which is saved if it ends the process.
Bytes current;
bool is_over = false;

void run(Bytes bytes) {
  current = std::move(bytes);
  ++executed;
  LLVMFuzzerTestOneInput(current.data(), current.size());
}

// Saves the current input. After the last input no input is current, because a report is then about the
// leftovers of all inputs.
void keep_current(int) {
  if (is_over) std::_Exit(1);
  if (std::FILE* file = std::fopen("crash-replay", "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
  std::fprintf(stderr, "fuzz: input %lld of seed %llu, written to crash-replay\n", static_cast<long long>(executed),
               static_cast<unsigned long long>(seed));
  std::_Exit(1);
}

void run_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "fuzz: %s cannot be read\n", path.c_str());
    std::exit(2);
  }
  corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  run(corpus.back());
}

void run_path(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return run_file(path);
  // The files are sorted, because random changes choose files by index.
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) run_file(file);
}

Bytes random_input(arrowdevice::testing::Random& random) {
  constexpr int64_t kLongest = 200;
  Bytes bytes(static_cast<size_t>(random.below(kLongest)));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.below(256));
  return bytes;
}

// Returns a changed file: with the end of another file, or with some bytes changed.
Bytes changed_input(arrowdevice::testing::Random& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random.below(static_cast<int64_t>(n))); };
  Bytes bytes = corpus[below(corpus.size())];
  if (random.below(4) == 0) {
    const Bytes& other = corpus[below(corpus.size())];
    bytes.resize(below(bytes.size() + 1));
    bytes.insert(bytes.end(), other.end() - static_cast<std::ptrdiff_t>(below(other.size() + 1)), other.end());
  }
  for (int64_t left = random.below(6); left > 0 && !bytes.empty(); --left) {
    bytes[below(bytes.size())] = static_cast<uint8_t>(random.below(256));
  }
  return bytes;
}

void run_random() {
  arrowdevice::testing::Random random(seed);
  for (int64_t i = 0; i < runs; ++i) {
    run(corpus.empty() || random.below(2) == 0 ? random_input(random) : changed_input(random));
  }
}

bool take_option(const char* argument) {
  if (std::strcmp(argument, "--seed=random") == 0) return seed = std::random_device()(), true;
  if (std::strncmp(argument, "--runs=", 7) == 0) return runs = std::atoll(argument + 7), true;
  if (std::strncmp(argument, "--seed=", 7) == 0) return seed = std::strtoull(argument + 7, nullptr, 10), true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, keep_current);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback([] { keep_current(0); });
#endif
  std::vector<const char*> paths;
  for (int i = 1; i < argc; ++i) {
    if (!take_option(argv[i])) paths.push_back(argv[i]);
  }
  std::fprintf(stderr, "fuzz: seed %llu\n", static_cast<unsigned long long>(seed));  // printed first, in case an input
                                                                                     // hangs
  for (const char* path : paths) run_path(path);
  run_random();
  is_over = true;
  std::printf("%lld inputs\n", static_cast<long long>(executed));
  return executed > 0 ? 0 : 2;
}
