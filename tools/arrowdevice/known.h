// SPDX-License-Identifier: Apache-2.0
// What the author of a backend knows of it already: the cases that it cannot run, and those that it fails for now.
#pragma once

#include <string>
#include <vector>

#include "conformance/conformance.h"

namespace arrowdevice::tool {

class KnownCases {
 public:
  // Adds those of a file: a line each, `BACKEND | unsupported | CASE | REASON` or
  // `BACKEND | expected to fail | CASE | REASON`; empty lines and those that begin with # say nothing. Throws
  // UsageError with the file and the line where one is anything else.
  void read(const std::string& path);

  // Why a backend is not to run a case; NULL if it is.
  const std::string* unsupported(const std::string& backend, const std::string& case_name) const;

  // What becomes of a result in the light of what is known. A case that was expected to fail and did not is no success:
  // its line is to be taken out.
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
