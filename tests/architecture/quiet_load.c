/* SPDX-License-Identifier: Apache-2.0 */
/* Loading the library, and asking it what needs no device, starts no thread, opens no file and loads nothing else; the
   first device that is asked for may. Run on a Linux with /proc. */
#include <arrowdevice/arrowdevice.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int entries(const char* folder) {
  DIR* opened = opendir(folder);
  int count = 0;
  if (opened == NULL) return -1;
  while (readdir(opened) != NULL) ++count;
  closedir(opened);
  return count;
}

/* The mapped files that are not the library itself, which the program loads on purpose. */
static int mapped_files(const char* except) {
  char line[4096];
  int count = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return -1;
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strchr(line, '/') != NULL && strstr(line, except) == NULL) ++count;
  }
  fclose(maps);
  return count;
}

int main(int argc, char** argv) {
  const char* (*version)(void);
  const char* (*type_name)(ArrowDeviceType);
  int failures = 0;
  void* library;
  int files, threads, mapped;

  if (argc != 3) return 2;
  /* The C++ runtime comes with the library and is no work of it: load it first. */
  if (dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL) == NULL) return 2;
  files = entries("/proc/self/fd");
  threads = entries("/proc/self/task");
  mapped = mapped_files("libarrowdevice.so");

  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  *(void**)&version = dlsym(library, "arrowdevice_version");
  *(void**)&type_name = dlsym(library, "arrowdevice_device_type_get_name");
  if (version == NULL || type_name == NULL || strcmp(version(), argv[2]) != 0 || strcmp(type_name(1), "cpu") != 0) {
    printf("the library does not answer as it should\n");
    ++failures;
  }
  if (files < 0 || entries("/proc/self/fd") != files) {
    printf("loading the library opened a file\n");
    ++failures;
  }
  if (threads != 3 || entries("/proc/self/task") != threads) { /* ".", ".." and this thread */
    printf("loading the library started a thread\n");
    ++failures;
  }
  if (mapped < 0 || mapped_files("libarrowdevice.so") != mapped) {
    printf("loading the library loaded more than the library\n");
    ++failures;
  }
  return failures != 0;
}
