/* SPDX-License-Identifier: Apache-2.0 */
/* A program that runs commands on the library and prints the results. Tests of behaviour that
 * happens once in a process run it as often as they need.
 *
 *   probe LIBRARY COMMAND...
 *   get=TYPE        gets device 0 of the type, allocates memory, copies bytes to it and back
 *   count=TYPE      prints the number of devices
 *   load=PATH       loads a plugin
 *   begin=TYPE      gets device 0 of the type on another thread
 *   meet=PATH       waits for the reader of a named pipe, and keeps it waiting
 *   part            lets the reader continue
 *   end             waits for the thread of `begin`
 *   fork=PATH       loads a plugin in a child of this process
 *   register        registers a backend "registered" for type 60
 *   list            lists all devices
 *   explain         prints every place in the report
 *   opened          prints the plugins that are loaded in the process */
#include <arrowdevice/arrowdevice.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const struct arrowdevice_backend* probe_table(void);

static void* library;

static void* function(const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) {
    printf("%s\n", dlerror());
    exit(2);
  }
  return found;
}

#define CALL(name) (*(__typeof__(&name))function(#name))

static void report(const char* what, int code, const struct arrowdevice_error* error) {
  printf("%s -> %d %s\n", what, code, code == 0 ? "" : error->message);
}

static int use(struct arrowdevice_device* device, struct arrowdevice_error* error) {
  static const char bytes[] = "there and back";
  char back[sizeof bytes] = "";
  struct arrowdevice_queue* queue = NULL;
  void* buffer = NULL;
  int code = CALL(arrowdevice_queue_create)(device, &queue, error);
  if (code == 0) code = CALL(arrowdevice_buffer_allocate)(device, NULL, queue, sizeof bytes, &buffer, error);
  if (code == 0) {
    struct arrowdevice_copy_region in = {device, NULL, 0, NULL, bytes, 0, sizeof bytes, 0};
    struct arrowdevice_copy_region out = {NULL, back, 0, device, NULL, 0, sizeof bytes, 0};
    in.dst = buffer;
    out.src = buffer;
    code = CALL(arrowdevice_queue_copy)(queue, &in, 1, error);
    if (code == 0) code = CALL(arrowdevice_queue_copy)(queue, &out, 1, error);
    if (code == 0) code = CALL(arrowdevice_queue_finish)(queue, ARROWDEVICE_NO_TIMEOUT, error);
    if (code == 0 && memcmp(bytes, back, sizeof bytes) != 0) {
      strcpy(error->message, "other bytes came back");
      code = EIO;
    }
  }
  CALL(arrowdevice_buffer_free)(device, NULL, buffer);
  CALL(arrowdevice_queue_destroy)(queue);
  return code;
}

static void get(const char* what, int type) {
  struct arrowdevice_error error = {0};
  struct arrowdevice_device* device = NULL;
  int code = CALL(arrowdevice_device_find_by_id)(type, 0, &device, &error);
  if (code == 0) {
    struct arrowdevice_device_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    code = CALL(arrowdevice_device_get_info)(device, &info, &error);
    if (code == 0) code = use(device, &error);
    if (code == 0) printf("%s is of %s\n", what, info.backend);
  }
  report(what, code, &error);
}

static void list(void) {
  struct arrowdevice_error error = {0};
  struct arrowdevice_device* devices[64];
  int64_t count = 0, i;
  int code = CALL(arrowdevice_device_list)(devices, 64, &count, &error);
  report("list", code, &error);
  for (i = 0; i < count; ++i) {
    struct arrowdevice_device_info info;
    memset(&info, 0, sizeof info);
    info.struct_size = sizeof info;
    CALL(arrowdevice_device_get_info)(devices[i], &info, NULL);
    printf("device %d:%lld of %s\n", info.device_type, (long long)info.device_id, info.backend);
  }
}

static void explain(void) {
  struct arrowdevice_backend_report look;
  int64_t i;
  memset(&look, 0, sizeof look);
  look.struct_size = sizeof look;
  for (i = 0; CALL(arrowdevice_backend_get_report)(i, &look, NULL) == 0; ++i) {
    printf("look %d [%s] [%s] %s\n", look.status, look.name, look.path, look.reason);
  }
}

/* Prints each plugin once, because a mapped file has several lines. */
static void opened(void) {
  char line[4096], last[4096] = "";
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) exit(2);
  printf("opened");
  while (fgets(line, sizeof line, maps) != NULL) {
    char* name = strstr(line, "/libarrowdevice-");
    if (name == NULL || strcmp(name, last) == 0) continue;
    strcpy(last, name);
    name[strcspn(name, "\n")] = '\0';
    printf(" %s", name + strlen("/libarrowdevice-"));
  }
  printf(".\n");
  fclose(maps);
}

static pthread_t other;
static int other_type, other_code;

static void* get_on_thread(void* unused) {
  struct arrowdevice_device* device = NULL;
  (void)unused;
  other_code = CALL(arrowdevice_device_find_by_id)(other_type, 0, &device, NULL);
  return NULL;
}

static void load_in_child(const char* path) {
  int status = 0;
  pid_t child;
  fflush(stdout); /* otherwise the child would print it again */
  child = fork();
  if (child == 0) {
    struct arrowdevice_error error = {0};
    int code = CALL(arrowdevice_backend_load)(path, &error);
    report("in a child", code, &error);
    fflush(stdout);
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) printf("in a child: it ended badly\n");
}

int main(int argc, char** argv) {
  FILE* met = NULL;
  int i;
  if (argc < 2) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 2;
  }
  for (i = 2; i < argc; ++i) {
    struct arrowdevice_error error = {0};
    const char* command = argv[i];
    if (strncmp(command, "get=", 4) == 0) {
      get(command, atoi(command + 4));
    } else if (strncmp(command, "count=", 6) == 0) {
      int64_t count = -1;
      int code = CALL(arrowdevice_device_count)(atoi(command + 6), &count, &error);
      printf("%s is %lld\n", command, (long long)count);
      report(command, code, &error);
    } else if (strncmp(command, "load=", 5) == 0) {
      int code = CALL(arrowdevice_backend_load)(command + 5, &error);
      report("load", code, &error);
    } else if (strncmp(command, "begin=", 6) == 0) {
      other_type = atoi(command + 6);
      if (pthread_create(&other, NULL, get_on_thread, NULL) != 0) return 2;
    } else if (strncmp(command, "fork=", 5) == 0) {
      load_in_child(command + 5);
    } else if (strncmp(command, "meet=", 5) == 0) {
      met = fopen(command + 5, "w"); /* returns when there is a reader */
      if (met == NULL) return 2;
    } else if (strcmp(command, "part") == 0) {
      fclose(met);
    } else if (strcmp(command, "end") == 0) {
      pthread_join(other, NULL);
      printf("other -> %d\n", other_code);
    } else if (strcmp(command, "register") == 0) {
      int code = CALL(arrowdevice_backend_register)(probe_table(), &error);
      report(command, code, &error);
    } else if (strcmp(command, "list") == 0) {
      list();
    } else if (strcmp(command, "explain") == 0) {
      explain();
    } else if (strcmp(command, "opened") == 0) {
      opened();
    } else {
      return 2;
    }
  }
  return 0;
}
