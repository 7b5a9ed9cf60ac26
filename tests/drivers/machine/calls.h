// SPDX-License-Identifier: Apache-2.0
// Every call of an entry point passes here: it is counted, and fails if it was asked to.
//
//   STANDIN_FAIL   "cuMemAllocAsync:3=2,cuEventQuery:1+": the third call of the one gives 2, all calls of the other
//   fail
//                  with their usual code
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

  // The code that this call is to fail with, 0 if it is not.
  int enter(const char* name);

  // The nth call from now on fails, with its usual code if `code` is 0.
  void fail_nth(const std::string& name, int64_t n, int code);
  void fail_no_more();

  // Whoever makes that call stays in it until another one is named, or "".
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
