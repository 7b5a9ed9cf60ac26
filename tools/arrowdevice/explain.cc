// SPDX-License-Identifier: Apache-2.0
#include <arrowdevice/arrowdevice.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "arguments.h"
#include "command.h"
#include "json.h"
#include "suggestion.h"
#include "terminal.h"
#include "type_states.h"

namespace arrowdevice::tool {
namespace {

// The answer about one name.
struct Explanation {
  bool is_usable = false;
  std::vector<arrowdevice_backend_report> searched;
  std::vector<std::string> conclusions;  // paragraphs
};

// -- one name

// Returns the devices of a loaded backend, and each distinct reason for missing devices.
Explanation explain_loaded_backend(const std::string& backend) {
  Explanation answer;
  std::string text = "The backend " + backend + " is loaded.";
  std::string last;
  for (const ArrowDeviceType type : named_types()) {
    const std::string type_name = arrowdevice_device_type_get_name(type);
    try {
      const auto info = cpp::Device::find_by_id(type, 0).info();
      if (info.backend != backend) continue;
      answer.is_usable = true;
      text += " " + type_name + " is there: " + info.name + ".";
    } catch (const cpp::Exception& error) {
      if (error.backend() != backend || error.what() == last) continue;
      last = error.what();
      text += " " + type_name + " cannot be used: " + last + ".";
    }
  }
  answer.conclusions.push_back(text);
  return answer;
}

std::vector<std::string> known_names(const std::vector<arrowdevice_backend_report>& reports) {
  std::vector<std::string> names = backends_not_built();
  for (const ArrowDeviceType type : named_types()) names.emplace_back(arrowdevice_device_type_get_name(type));
  for (const auto& report : reports) {
    if (report.name[0] != '\0') names.emplace_back(report.name);
  }
  return names;
}

// Explains the backend NAME. The word is not a device type.
Explanation explain_backend(const std::string& name) {
  cpp::Device::list();  // loads every backend
  const auto reports = cpp::backend_reports();
  std::vector<arrowdevice_backend_report> searched;
  bool is_loaded = false;
  bool is_seen = false;
  for (const auto& report : reports) {
    // A report without a backend name, such as a missing folder, concerns every backend.
    if (name != report.name && report.name[0] != '\0') continue;
    searched.push_back(report);
    is_seen = is_seen || name == report.name;
    is_loaded = is_loaded || (name == report.name && report.status == 0);
  }
  Explanation answer;
  if (is_loaded) {
    answer = explain_loaded_backend(name);
  } else if (is_seen) {
    answer.conclusions.push_back("The backend " + name + " was found and is not used.");
  } else if (const std::string reason = why_not_built(name); !reason.empty()) {
    answer.conclusions.push_back("The backend " + name + " is not built: " + reason + ".");
  } else {
    answer.conclusions.push_back("\"" + name + "\" is not a device type, and there is no backend of that name" +
                                 suggestion(name, known_names(reports)) + ".");
  }
  answer.searched = std::move(searched);
  return answer;
}

Explanation explain_name(const std::string& name) {
  cpp::Device device;
  std::optional<cpp::Exception> failure;
  try {
    device = cpp::Device::find_by_name(name);
  } catch (const cpp::Exception& error) {
    if (error.code() == EINVAL && name.find(':') == std::string::npos) return explain_backend(name);
    failure = error;
  }
  Explanation answer;
  answer.is_usable = !failure;
  answer.searched = cpp::backend_reports();
  if (!failure) {
    const auto info = device.info();
    answer.conclusions.push_back(name + " is there: " + info.name + ", driven by the backend " + info.backend + ".");
    return answer;
  }
  answer.conclusions.push_back(name + " cannot be used: " + failure->what());
  const std::string backend = backend_of(name);
  const bool is_seen = std::ranges::any_of(answer.searched, [&](const auto& one) { return backend == one.name; });
  const std::string reason = is_seen ? "" : why_not_built(backend);
  if (!reason.empty()) answer.conclusions.push_back("The backend " + backend + " is not built: " + reason + ".");
  return answer;
}

// -- text

void print_report(const arrowdevice_backend_report& report) {
  constexpr size_t kIndent = 10;
  const bool is_loaded = report.status == 0;
  const std::string path = report.path[0] == '\0' ? "(no file: linked in)" : printable(report.path);
  const std::string name = report.name[0] == '\0' ? "" : printable(report.name);
  const std::string first = name.empty() ? path : name + "  " + path;
  const Cell state(is_loaded ? "loaded" : "not used", is_loaded ? Style::kGood : Style::kBad);
  if (columns_of(first) <= kColumns - kIndent || name.empty()) {
    print_entry(state, first, kIndent);
  } else {
    print_entry(state, name, kIndent);
    print_paragraph(path, kIndent);
  }
  print_paragraph(printable(report.reason), kIndent);
}

void print_text_of(const Explanation& answer) {
  for (const auto& report : answer.searched) print_report(report);
  for (const std::string& conclusion : answer.conclusions) {
    if (!answer.searched.empty() || &conclusion != &answer.conclusions.front()) std::printf("\n");
    print_paragraph(printable(conclusion), 0);
  }
}

// Returns distinct names: "GPU A, GPU B".
std::string device_names(const TypeState& state) {
  std::vector<std::string> names;
  for (const auto& info : state.devices) {
    if (std::ranges::find(names, info.name) == names.end()) names.emplace_back(info.name);
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Prints a type. A type with the backend and the reason of an earlier one refers to that one.
void print_type(const TypeState& state, const std::vector<TypeState>& earlier) {
  constexpr size_t kIndent = 14;
  const Cell title(state.name, state.devices.empty() ? Style::kPlain : Style::kGood);
  if (!state.devices.empty()) {
    const std::string count =
        state.devices.size() == 1 ? "1 device" : std::to_string(state.devices.size()) + " devices";
    print_entry(title, count + " (" + state.backend + "): " + printable(device_names(state)), kIndent);
    return;
  }
  const auto same = std::ranges::find_if(earlier, [&](const TypeState& one) {
    return one.devices.empty() && one.backend == state.backend && one.reason == state.reason;
  });
  const std::string text =
      same != earlier.end() ? "none, as for " + same->name : "none (" + state.backend + "): " + printable(state.reason);
  print_entry(title, text, kIndent);
}

void print_types(const std::vector<TypeState>& types) {
  for (const TypeState& state : types) {
    if (!state.devices.empty()) print_type(state, {});
  }
  std::vector<TypeState> printed;
  std::string undriven;
  for (const TypeState& state : types) {
    if (!state.devices.empty()) continue;
    if (state.backend.empty()) {
      undriven += (undriven.empty() ? "" : ", ") + state.name;
      continue;
    }
    print_type(state, printed);
    printed.push_back(state);
  }
  if (!undriven.empty()) print_paragraph("No backend drives these types: " + undriven + ".", 0);
}

void print_text_of(const Survey& found) {
  print_types(found.types);
  std::printf("\n%s\n", styled("Places that were searched for backends:", Style::kHeading).c_str());
  for (const auto& report : found.searched) print_report(report);
}

// -- JSON

std::string json_of(const std::vector<arrowdevice_backend_report>& reports) {
  std::vector<std::string> elements;
  for (const auto& report : reports) {
    elements.push_back(json_object({{"status", json_number(report.status)},
                                    {"backend", json_string_or_null(report.name)},
                                    {"path", json_string_or_null(report.path)},
                                    {"reason", json_string(report.reason)}}));
  }
  return json_lines(elements);
}

std::string json_of(const TypeState& state) {
  std::vector<std::string> devices;
  for (const auto& info : state.devices) {
    devices.push_back(json_object({{"id", json_number(info.device_id)}, {"name", json_string(info.name)}}));
  }
  return json_object({{"type", json_string(state.name)},
                      {"device_type", json_number(state.type)},
                      {"backend", json_string_or_null(state.backend)},
                      {"devices", json_list(devices)},
                      {"reason", json_string_or_null(state.reason)}});
}

void print_json_of(const Survey& found) {
  std::vector<std::string> types;
  for (const TypeState& state : found.types) types.push_back(json_of(state));
  print_json({{"types", json_lines(types)}, {"searched", json_of(found.searched)}});
}

void print_json_of(const std::string& name, const Explanation& answer) {
  std::string text;
  for (const std::string& conclusion : answer.conclusions) text += (text.empty() ? "" : " ") + conclusion;
  print_json({{"name", json_string(name)},
              {"usable", json_bool(answer.is_usable)},
              {"conclusion", json_string(text)},
              {"searched", json_of(answer.searched)}});
}

// -- command

int run(const Arguments& arguments) {
  const bool is_json = arguments.has("--json");
  if (arguments.operands().empty()) {
    const Survey found = survey();
    is_json ? print_json_of(found) : print_text_of(found);
    return kSuccess;
  }
  const std::string& name = arguments.operands().front();
  const Explanation answer = explain_name(name);
  is_json ? print_json_of(name, answer) : print_text_of(answer);
  return answer.is_usable ? kSuccess : kFailure;
}

constexpr std::array kOptions{kJson};

}  // namespace

const Command kExplain{
    .name = "explain",
    .summary = "says why a device or backend is there, or is not",
    .usage = "[--json] [NAME]",
    .about =
        "Lists the device types of the Arrow format. For each type it prints the devices, or why there is\n"
        "none, and in parentheses the backend. Then it lists every place that was searched for backends,\n"
        "in the order of the search, and why a file was not used.\n"
        "NAME is a device type (cuda), a device (cuda:1) or a backend (sim). The command then lists only\n"
        "the places that were searched for it, and says if it can be used.\n",
    .options = kOptions,
    .exit_code = "0 NAME can be used; 1 it cannot, or the library failed; 2 wrong usage.",
    .operands = Words::kNames,
    .most_operands = 1,
    .run = run,
};

}  // namespace arrowdevice::tool
