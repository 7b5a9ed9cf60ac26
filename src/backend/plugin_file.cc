// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin_file.h"

#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

#include "backend/object_file.h"
#include "base/error.h"
#include "base/process.h"

namespace arrowdevice::backend {
namespace {

constexpr std::string_view kPrefix = "libarrowdevice-";
constexpr std::string_view kSuffix = ".so";

std::string last_loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "the loader gave no reason";
}

// Returns true if the symbol is the object's own. dlsym finds symbols of the object's dependencies too, which do not
// count.
bool is_own_symbol(void* object, void* symbol) {
  link_map* object_map = nullptr;
  link_map* symbol_map = nullptr;
  Dl_info info{};
  return dlinfo(object, RTLD_DI_LINKMAP, &object_map) == 0 &&
         dladdr1(symbol, &info, reinterpret_cast<void**>(&symbol_map), RTLD_DL_LINKMAP) != 0 &&
         object_map == symbol_map;
}

}  // namespace

std::string plugin_name(const std::string& path) {
  std::string_view file = path;
  if (const auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  if (file.size() <= kPrefix.size() + kSuffix.size() || !file.starts_with(kPrefix) || !file.ends_with(kSuffix)) {
    return {};
  }
  file.remove_prefix(kPrefix.size());
  file.remove_suffix(kSuffix.size());
  return std::string(file);
}

const arrowdevice_backend* open_plugin(const std::string& absolute_path) {
  check_shared_object(absolute_path);
  dlerror();
  errno = 0;
  void* object = dlopen(absolute_path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (object == nullptr && errno == ENOMEM) throw std::bad_alloc();  // not an error of the file
  if (object == nullptr) throw Error(EINVAL, last_loader_error());
  void* symbol = dlsym(object, ARROWDEVICE_BACKEND_ENTRY);
  if (symbol == nullptr || !is_own_symbol(object, symbol)) {
    throw Error(EINVAL, "it exports no " ARROWDEVICE_BACKEND_ENTRY);
  }
  arrowdevice_error error{};
  const auto* table =
      reinterpret_cast<arrowdevice_backend_entry_function>(symbol)(ARROWDEVICE_BACKEND_ABI_VERSION, &error);
  process::watch_exit();
  if (table == nullptr) {
    const std::string_view said(error.message, strnlen(error.message, sizeof error.message));
    throw Error(error.code != 0 ? error.code : EINVAL, said.empty() ? "its entry returned NULL" : std::string(said));
  }
  return table;
}

}  // namespace arrowdevice::backend
