// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "program.h"

namespace stress {

namespace {

namespace fs = std::filesystem;

// A folder beside the program. It is removed with its content at the end of the scope.
class Folder {
 public:
  Folder() : path_(fs::read_symlink("/proc/self/exe").string() + "-XXXXXX") {
    check(mkdtemp(path_.data()) != nullptr, "no folder can be made");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;

  fs::path path() const { return path_; }

 private:
  std::string path_;
};

void* symbol(void* handle, const char* name) {
  void* const found = dlsym(handle, name);
  if (found == nullptr) fail(std::string("the library has no ") + name);
  return found;
}

}  // namespace

Library linked_library() {
  return {
#define STRESS_LINKED(name) .name = &::arrowdevice_##name,
      STRESS_FUNCTIONS(STRESS_LINKED)
#undef STRESS_LINKED
  };
}

Library load_copy() {
  Dl_info linked;
  check(dladdr(reinterpret_cast<const void*>(&arrowdevice_version), &linked) != 0, "the library has no file");
  const Folder folder;
  const fs::path path = folder.path() / "libarrowdevice.so";
  fs::copy_file(linked.dli_fname, path);
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) fail(dlerror());
  const Library copy = {
#define STRESS_LOADED(name) \
  .name = reinterpret_cast<decltype(&::arrowdevice_##name)>(symbol(handle, "arrowdevice_" #name)),
      STRESS_FUNCTIONS(STRESS_LOADED)
#undef STRESS_LOADED
          .handle = handle,
      .path = path};
  check(copy.array_copy != &::arrowdevice_array_copy, "the copy is the library itself");
  return copy;
}

bool is_loaded(const Library& library) {
  void* const handle = dlopen(library.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

}  // namespace stress
