// SPDX-License-Identifier: Apache-2.0
#include "known.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "command.h"

namespace arrowdevice::tool {
namespace {

using conformance::Outcome;

std::string trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

bool is_case(const std::string& name) {
  const auto all = conformance::cases();
  return std::any_of(all.begin(), all.end(), [&](const conformance::Case& one) { return name == one.name; });
}

}  // namespace

// Throws std::runtime_error without the file and the line.
KnownCases::Known KnownCases::parse(const std::string& line) {
  constexpr size_t kParts = 4;
  std::vector<std::string> parts;
  std::istringstream text(line);
  // A reason may contain the separator.
  for (std::string part; parts.size() + 1 < kParts && std::getline(text, part, '|');) parts.push_back(trimmed(part));
  std::string reason;
  std::getline(text, reason, '\0');
  parts.push_back(trimmed(reason));
  if (parts.size() != kParts ||
      std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); })) {
    throw std::runtime_error("not BACKEND | unsupported or expected to fail | CASE | REASON");
  }
  if (parts[1] != "unsupported" && parts[1] != "expected to fail") {
    throw std::runtime_error("\"" + parts[1] + "\" is neither \"unsupported\" nor \"expected to fail\"");
  }
  if (!is_case(parts[2])) {
    throw std::runtime_error("there is no case \"" + parts[2] + "\"; see arrowdevice check --list");
  }
  return {parts[0], parts[1] == "unsupported" ? Kind::kUnsupported : Kind::kExpectedToFail, parts[2], parts[3]};
}

void KnownCases::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("check: " + path + " cannot be read");
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const std::string text = trimmed(line);
    if (text.empty() || text[0] == '#') continue;
    try {
      known_.push_back(parse(text));
    } catch (const std::runtime_error& error) {
      throw UsageError("check: " + path + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (file.bad()) throw UsageError("check: " + path + " cannot be read");
}

const KnownCases::Known* KnownCases::find(Kind kind, const std::string& backend, const std::string& case_name) const {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
    return known.kind == kind && known.backend == backend && known.case_name == case_name;
  });
  return found == known_.end() ? nullptr : &*found;
}

const std::string* KnownCases::unsupported(const std::string& backend, const std::string& case_name) const {
  const Known* const known = find(Kind::kUnsupported, backend, case_name);
  return known == nullptr ? nullptr : &known->reason;
}

conformance::Result KnownCases::judge(const std::string& backend, const std::string& case_name,
                                      conformance::Result result) const {
  const Known* const known = find(Kind::kExpectedToFail, backend, case_name);
  if (known == nullptr) return result;
  switch (result.outcome) {
    case Outcome::kFailed: return {Outcome::kFailedAsExpected, known->reason + ": " + result.message};
    case Outcome::kPassed: return {Outcome::kPassedUnexpectedly, "it was expected to fail: " + known->reason};
    default: return result;
  }
}

}  // namespace arrowdevice::tool
