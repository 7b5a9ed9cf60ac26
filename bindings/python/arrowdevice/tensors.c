/* SPDX-License-Identifier: Apache-2.0 */
#include "tensors.h"

#include <stdlib.h>

#include "guard.h"

void delete_versioned(struct versioned_tensor* tensor) {
  if (tensor != NULL && tensor->deleter != NULL) tensor->deleter(tensor);
}

void delete_legacy(struct legacy_tensor* tensor) {
  if (tensor != NULL && tensor->deleter != NULL) tensor->deleter(tensor);
}

/* The structs that ended last stay readable for a while: some consumers call the deleter of a tensor that they refuse,
 * and so does the capsule that it came in. The second call finds no manager_ctx. */
enum { kept_structs = 64 };
static void* ended[kept_structs];
static unsigned ended_count;

static void keep_ended(void* tensor) {
  const unsigned place = __atomic_fetch_add(&ended_count, 1, __ATOMIC_RELAXED) % kept_structs;
  free(__atomic_exchange_n(&ended[place], tensor, __ATOMIC_ACQ_REL));
}

static void delete_guarded_versioned(struct versioned_tensor* tensor) {
  if (!guard_enter()) return;
  delete_versioned(tensor->manager_ctx);
  guard_leave();
  free(tensor);
}

struct versioned_tensor* guard_versioned(struct versioned_tensor* moved) {
  struct versioned_tensor* const tensor = malloc(sizeof *tensor);
  if (tensor == NULL) return NULL;
  *tensor = *moved;
  tensor->manager_ctx = moved;
  tensor->deleter = delete_guarded_versioned;
  return tensor;
}

static void delete_guarded_legacy(struct versioned_tensor* tensor) {
  if (!guard_enter()) return;
  delete_legacy(tensor->manager_ctx);
  guard_leave();
  free(tensor);
}

struct versioned_tensor* guard_legacy(struct legacy_tensor* moved) {
  struct versioned_tensor* const tensor = malloc(sizeof *tensor);
  if (tensor == NULL) return NULL;
  *tensor = (struct versioned_tensor){
      .major = 1, .manager_ctx = moved, .deleter = delete_guarded_legacy, .tensor = moved->tensor};
  return tensor;
}

static void delete_as_legacy(struct legacy_tensor* tensor) {
  void* const moved = __atomic_exchange_n(&tensor->manager_ctx, NULL, __ATOMIC_ACQ_REL);
  if (moved == NULL) return;
  delete_versioned(moved);
  keep_ended(tensor);
}

struct legacy_tensor* as_legacy(struct versioned_tensor* moved) {
  struct legacy_tensor* const tensor = malloc(sizeof *tensor);
  if (tensor == NULL) return NULL;
  *tensor = (struct legacy_tensor){.tensor = moved->tensor, .manager_ctx = moved, .deleter = delete_as_legacy};
  return tensor;
}
