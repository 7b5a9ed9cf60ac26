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
  delete_versioned(tensor->manager_ctx);
  free(tensor);
}

struct legacy_tensor* as_legacy(struct versioned_tensor* moved) {
  struct legacy_tensor* const tensor = malloc(sizeof *tensor);
  if (tensor == NULL) return NULL;
  *tensor = (struct legacy_tensor){.tensor = moved->tensor, .manager_ctx = moved, .deleter = delete_as_legacy};
  return tensor;
}
