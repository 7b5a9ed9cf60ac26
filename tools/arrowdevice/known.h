// SPDX-License-Identifier: Apache-2.0
// The known limits of a backend: cases that it cannot run, and cases that are expected to fail.
#pragma once

#include <string>
#include <vector>

#include "conformance/conformance.h"

namespace arrowdevice::tool {

class KnownCases {
 public:
  // Adds the cases of a file. Each line is `BACKEND | unsupported | CASE | REASON` or `BACKEND | expected to fail |
  // CASE | REASON`. Empty lines and lines that begin with # are ignored. Throws UsageError with the file and the line
  // if a line has another form.
  void read(const std::string& path);

  // Returns the reason why a backend cannot run a case, or NULL if it can.
  const std::string* unsupported(const std::string& backend, const std::string& case_name) const;

  // Adjusts a result by the known cases. An expected failure that passes is not a success, because its line must be
  // removed.
  conformance::Result judge(const std::string& backend, const std::string& case_name, conformance::Result result) const;

 private:
  enum class Kind { kUnsupported, kExpectedToFail };
  struct Known {
    std::string backend;
    Kind kind;
    std::string case_name;
    std::string reason;
  };

  static Known parse(const std::string& line);
  const Known* find(Kind kind, const std::string& backend, const std::string& case_name) const;

  std::vector<Known> known_;
};

}  // namespace arrowdevice::tool
