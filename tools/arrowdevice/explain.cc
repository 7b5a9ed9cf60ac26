// SPDX-License-Identifier: Apache-2.0
#include <arrowdevice/arrowdevice.hpp>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "arguments.h"
#include "command.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

constexpr size_t kIndent = 10;

void print_report(const arrowdevice_backend_report& report) {
  const bool loaded = report.status == 0;
  const std::string path = report.path[0] == '\0' ? "(no file: linked in)" : printable(report.path);
  const std::string state = styled(loaded ? "loaded" : "not used", loaded ? Style::kGood : Style::kBad);
  const std::string name = report.name[0] == '\0' ? "" : printable(report.name);
  const std::string first = name.empty() ? path : name + "  " + path;
  // The state is printed in the margin of the first line.
  const size_t margin = kIndent - (loaded ? 6 : 8);
  std::printf("%s%s", state.c_str(), std::string(margin, ' ').c_str());
  if (columns_of(first) <= kColumns - kIndent) {
    std::printf("%s\n", first.c_str());
  } else {
    std::printf("%s\n", name.c_str());
    print_paragraph(path, kIndent);
  }
  print_paragraph(printable(report.reason), kIndent);
}

void print_conclusion(const std::string& text) {
  std::printf("\n");
  print_paragraph(printable(text), 0);
}

int explain_all() {
  cpp::Device::list();  // loads every backend
  for (const auto& report : cpp::backend_reports()) print_report(report);
  return kSuccess;
}

struct DevicesOfBackend {
  bool is_any_there = false;
  std::string text;  // the available devices, and each distinct reason for missing devices
};

// Returns the devices of a loaded backend.
DevicesOfBackend devices_of(const std::string& backend) {
  constexpr ArrowDeviceType kMostTypes = 64;
  DevicesOfBackend devices;
  std::string last;
  for (ArrowDeviceType type = 1; type <= kMostTypes; ++type) {
    const char* const type_name = arrowdevice_device_type_get_name(type);
    if (type_name == nullptr) continue;
    try {
      const auto info = cpp::Device::find_by_id(type, 0).info();
      if (info.backend != backend) continue;
      devices.is_any_there = true;
      devices.text += std::string(" ") + type_name + " is there: " + info.name + ".";
    } catch (const cpp::Exception& error) {
      if (error.backend() != backend || error.what() == last) continue;
      last = error.what();
      devices.text += std::string(" ") + type_name + " cannot be used: " + last + ".";
    }
  }
  return devices;
}

// Returns the reason why this build lacks a backend, from a list of "NAME=REASON" separated by semicolons. Returns an
// empty string if the build has the backend or does not know the name.
std::string why_not_built(const std::string& name) {
  const std::string all = std::string(";") + ARROWDEVICE_NOT_BUILT + ";";
  const std::string key = ";" + name + "=";
  const size_t found = all.find(key);
  if (found == std::string::npos) return "";
  const size_t begin = found + key.size();
  return all.substr(begin, all.find(';', begin) - begin);
}

// Explains the backend NAME. The word is not a device type.
int explain_backend(const std::string& name) {
  cpp::Device::list();
  bool loaded = false;
  bool seen = false;
  for (const auto& report : cpp::backend_reports()) {
    // A report without a backend name, such as a missing folder, concerns every backend.
    if (name != report.name && report.name[0] != '\0') continue;
    print_report(report);
    seen = seen || name == report.name;
    loaded = loaded || (name == report.name && report.status == 0);
  }
  if (loaded) {
    const auto devices = devices_of(name);
    print_conclusion("The backend " + name + " is loaded." + devices.text);
    return devices.is_any_there ? kSuccess : kFailure;
  }
  const std::string not_built = why_not_built(name);
  if (!seen && !not_built.empty()) {
    print_conclusion("The backend " + name + " is not built: " + not_built + ".");
    return kFailure;
  }
  print_conclusion(seen ? "The backend " + name + " was found and is not used."
                        : "\"" + name + "\" is not a device type, and there is no backend of that name.");
  return kFailure;
}

// Returns the backend of this project that drives the type in a device name.
std::string backend_of(const std::string& device) {
  std::string type = device.substr(0, device.find(':'));
  if (type == "ext_dev") return "sim";
  if (type == "oneapi") return "level_zero";
  for (const auto& [prefix, backend] : {std::pair("cuda", "cuda"), std::pair("rocm", "hip")}) {
    if (type.starts_with(prefix)) return backend;
  }
  return type;
}

int explain_device(const std::string& name) {
  cpp::Device device;
  std::optional<cpp::Exception> failure;
  try {
    device = cpp::Device::find_by_name(name);
  } catch (const cpp::Exception& error) {
    if (error.code() == EINVAL && name.find(':') == std::string::npos) return explain_backend(name);
    failure = error;
  }
  const std::string backend = backend_of(name);
  bool seen = false;
  for (const auto& report : cpp::backend_reports()) {
    print_report(report);
    seen = seen || backend == report.name;
  }
  if (failure) {
    print_conclusion(name + " cannot be used: " + failure->what());
    const std::string not_built = seen ? "" : why_not_built(backend);
    if (!not_built.empty()) print_conclusion("The backend " + backend + " is not built: " + not_built + ".");
    return kFailure;
  }
  const auto info = device.info();
  print_conclusion(name + " is there: " + info.name + ", driven by the backend " + info.backend + ".");
  return kSuccess;
}

int run(const Arguments& arguments) {
  return arguments.operands().empty() ? explain_all() : explain_device(arguments.operands().front());
}

}  // namespace

const Command kExplain{
    .name = "explain",
    .summary = "says why a device or backend is there, or is not",
    .usage = "[NAME]",
    .about =
        "Lists every place that was searched for backends, in the order of the search, and why it was not\n"
        "used.\n"
        "NAME is a device type (cuda), a device (cuda:1) or a backend (sim). The command then lists only\n"
        "places that were searched for it, and says if it can be used.\n",
    .options = {},
    .exit_code = "0 NAME can be used; 1 it cannot, or the library failed; 2 wrong usage.",
    .operands = Words::kNames,
    .most_operands = 1,
    .run = run,
};

}  // namespace arrowdevice::tool
