// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <malloc.h>

#include <cstdio>
#include <fstream>

namespace soak {

namespace {

constexpr int64_t kMostWrong = 20;

}  // namespace

void wrong(const std::string& what) { throw Wrong(what); }

void expect_equal(int64_t is, int64_t expected, const char* what) {
  if (is != expected) wrong(std::string(what) + ": " + std::to_string(is) + ", expected " + std::to_string(expected));
}

void expect_same(const std::string& difference) {
  if (!difference.empty()) wrong("other rows came back: " + difference);
}

Tally& tally() {
  static Tally only;
  return only;
}

void note_wrong(const std::string& where, const std::string& what) {
  std::fprintf(stderr, "WRONG: %s: %s\n", where.c_str(), what.c_str());
  ++tally().wrong;
}

bool is_too_much_wrong() { return tally().wrong >= kMostWrong; }

int64_t memory_of_process(const char* which) {
  std::ifstream status("/proc/self/status");
  const std::string wanted = std::string(which) + ":";
  constexpr int64_t kUnit = 1024;
  for (std::string word; status >> word;) {
    int64_t amount = 0;
    if (word == wanted && status >> amount) return amount * kUnit;
  }
  return 0;
}

int64_t allocated_bytes() {
  const auto info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

}  // namespace soak
