// SPDX-License-Identifier: Apache-2.0
// Contexts, each thread's stack of them, and what belongs to which.
#pragma once

#include <cstdint>

namespace standin::cuda {

// Counted: the last release destroys it.
void* retain_primary_context(int device);
void release_primary_context(int device, const char* call);
bool has_primary_context(int device);
// An application's own. Nothing may be left in it when it is destroyed.
void* create_context(int device);
void destroy_context(void* context, const char* call);
bool is_context(void* handle);
// The GPU of a context, which must be one.
int device_of(void* context, const char* call);

void push(void* context);
void* pop(const char* call);
void* current();  // NULL if there is none

// The GPU that is current, which there must be.
int current_device(const char* call);

// Streams, events and memory are of the context in which they were made, each by its handle or address.
void made_here(uintptr_t thing);
void gone(uintptr_t thing);
void* context_of(uintptr_t thing);  // NULL: of none, as memory from a pool
// Ends the process if the thing is of another context of the same GPU: the machine looks after other GPUs.
void check_context(uintptr_t thing, void* context, const char* call);

}  // namespace standin::cuda
