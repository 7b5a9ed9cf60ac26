/* SPDX-License-Identifier: Apache-2.0 */
/* Exports memory of the program's own allocator as a device array, and reuses it after the last release. The consumer
 * puts the array on DEVICE: export_from_own_allocator [DEVICE]. */
#include <arrowdevice/arrowdevice.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 1000

/* The engine's allocator: slots of one size in one block of memory. */
#define SLOTS 4
#define SLOT_BYTES (ROWS * sizeof(int64_t))

struct arena {
  int64_t* memory;
  int used[SLOTS];
};

static int64_t* arena_allocate(struct arena* arena) {
  for (int i = 0; i < SLOTS; ++i) {
    if (arena->used[i]) continue;
    arena->used[i] = 1;
    return arena->memory + (size_t)i * ROWS;
  }
  return NULL;
}

static void arena_free(struct arena* arena, const int64_t* slot) { arena->used[(slot - arena->memory) / ROWS] = 0; }

static int arena_in_use(const struct arena* arena) {
  int used = 0;
  for (int i = 0; i < SLOTS; ++i) used += arena->used[i];
  return used;
}

/* Private data of an exported array. */
struct exported {
  struct arena* arena;
  const void* buffers[2];
};

/* The last owner calls this on any thread. An engine with several threads guards its allocator. */
static void release_exported(struct ArrowArray* array) {
  struct exported* exported = array->private_data;
  arena_free(exported->arena, exported->buffers[1]);
  free(exported);
  array->release = NULL;
}

/* Exports a slot. If the call succeeds, the slot belongs to the array. */
static int export_slot(struct arena* arena, int64_t* slot, struct ArrowDeviceArray* out,
                       struct arrowdevice_error* error) {
  struct exported* exported = malloc(sizeof *exported);
  if (exported == NULL) return ENOMEM;
  *exported = (struct exported){.arena = arena, .buffers = {NULL, slot}};
  struct ArrowArray array = {.length = ROWS,
                             .n_buffers = 2,
                             .buffers = exported->buffers,
                             .release = release_exported,
                             .private_data = exported};

  /* GPU memory is exported in the same way, with its device and the queue that writes it. */
  struct arrowdevice_device* cpu;
  int code = arrowdevice_device_find_by_name("cpu", &cpu, error);
  if (code == 0) code = arrowdevice_array_export(cpu, &array, NULL, out, error);
  if (code != 0) free(exported);
  return code;
}

static void release_schema(struct ArrowSchema* schema) { schema->release = NULL; }

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "cpu";
  const struct ArrowSchema schema = {.format = "l", .name = "", .release = release_schema};
  struct arrowdevice_error error = {0};
  struct arrowdevice_device* device;
  struct ArrowDeviceArray array, there;

  struct arena arena = {.memory = malloc(SLOTS * SLOT_BYTES)};
  if (arena.memory == NULL) return 1;
  int64_t* slot = arena_allocate(&arena);
  for (int64_t i = 0; i < ROWS; ++i) slot[i] = i;
  if (export_slot(&arena, slot, &array, &error) != 0) {
    fprintf(stderr, "the array is not exported: %s\n", error.message);
    return 1;
  }
  printf("handed out: %d slot in use\n", arena_in_use(&arena));

  /* The consumer shares the slot on the CPU. A device gets a copy, and the slot is free when the copy has finished. */
  if (arrowdevice_device_find_by_name(name, &device, &error) != 0 ||
      arrowdevice_array_to_device(&array, &schema, device, NULL, &there, &error) != 0) {
    fprintf(stderr, "%s: %s\n", name, error.message);
    arrowdevice_array_release(&array);
    return 1;
  }
  const int shared = there.array.buffers[1] == slot;
  printf("moved to %s: %d slot in use\n", name, arena_in_use(&arena));
  if (arena_in_use(&arena) != shared) return 1;
  arrowdevice_array_release(&there);
  printf("released: %d slots in use\n", arena_in_use(&arena));
  const int left = arena_in_use(&arena);
  free(arena.memory);
  return left == 0 ? 0 : 1;
}
