// SPDX-License-Identifier: Apache-2.0
#include "machine/calls.h"

#include <cstdlib>
#include <sstream>

#include "machine/violation.h"

namespace standin {
namespace {

// CUDA and HIP use the same numbers for these codes.
constexpr int kOutOfMemory = 2;
constexpr int kUnknown = 999;

int usual_code(const std::string& name) {
  const bool allocates = name.find("Alloc") != std::string::npos;
  return allocates ? kOutOfMemory : kUnknown;
}

}  // namespace

Calls::Calls() {
  const char* text = std::getenv("STANDIN_FAIL");
  std::stringstream words(text == nullptr ? "" : text);
  for (std::string word; std::getline(words, word, ',');) {
    Planned planned{.name = word, .call = 1, .onwards = false, .code = 0};
    if (planned.name.back() == '+') {
      planned.onwards = true;
      planned.name.pop_back();
    }
    if (const size_t equals = planned.name.find('='); equals != std::string::npos) {
      planned.code = std::atoi(planned.name.c_str() + equals + 1);
      planned.name.resize(equals);
    }
    if (const size_t colon = planned.name.find(':'); colon != std::string::npos) {
      planned.call = std::atoll(planned.name.c_str() + colon + 1);
      planned.name.resize(colon);
    }
    if (planned.call < 1) violation("STANDIN_FAIL: \"%s\" names no call", word.c_str());
    planned_.push_back(planned);
  }
}

int Calls::enter(const char* name) {
  std::unique_lock lock(mutex_);
  const int64_t call = ++counts_[name];
  changed_.wait(lock, [&] { return held_ != name; });
  for (const Planned& planned : planned_) {
    if (planned.name != name) continue;
    if (planned.call != call && !(planned.onwards && planned.call < call)) continue;
    ++failed_;
    return planned.code != 0 ? planned.code : usual_code(planned.name);
  }
  return 0;
}

void Calls::fail_nth(const std::string& name, int64_t n, int code) {
  const std::lock_guard lock(mutex_);
  planned_.push_back({.name = name, .call = counts_[name] + n, .onwards = false, .code = code});
}

void Calls::fail_no_more() {
  const std::lock_guard lock(mutex_);
  planned_.clear();
}

void Calls::hold_call(const std::string& name) {
  const std::lock_guard lock(mutex_);
  held_ = name;
  changed_.notify_all();
}

int64_t Calls::count(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(name);
  return found == counts_.end() ? 0 : found->second;
}

int64_t Calls::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

}  // namespace standin
