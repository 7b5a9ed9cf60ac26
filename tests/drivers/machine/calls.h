// SPDX-License-Identifier: Apache-2.0
// Every call of an entry point comes here. The call is counted, and it fails if its failure was planned.
//
//   STANDIN_FAIL   "cuMemAllocAsync:3=2,cuEventQuery:1+" lets the third call of the first function return
//   2,
//                  and all calls of the second function fail with their usual code
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace standin {

class Calls {
 public:
  Calls();

  // Returns the code that this call fails with, or 0.
  int enter(const char* name);

  // Makes the nth call from now on fail, with its usual code if `code` is 0.
  void fail_nth(const std::string& name, int64_t n, int code);
  void fail_no_more();

  // Blocks each thread that makes this call until another call or "" is set.
  void hold_call(const std::string& name);

  int64_t count(const std::string& name) const;
  int64_t failed() const;

 private:
  struct Planned {
    std::string name;
    int64_t call;
    bool onwards;
    int code;
  };

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string held_;
  std::map<std::string, int64_t> counts_;
  std::vector<Planned> planned_;
  int64_t failed_ = 0;
};

}  // namespace standin
