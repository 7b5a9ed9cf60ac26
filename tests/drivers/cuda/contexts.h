// SPDX-License-Identifier: Apache-2.0
// Contexts, and each thread's stack of them.
#pragma once

namespace standin::cuda {

void* primary_context(int device);
// The GPU of a context, which must be one.
int device_of(void* context, const char* call);

void push(void* context);
void* pop(const char* call);
void* current();  // NULL if there is none

// The GPU that is current, which there must be.
int current_device(const char* call);

}  // namespace standin::cuda
