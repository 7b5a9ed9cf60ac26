// SPDX-License-Identifier: Apache-2.0
// Contexts, the context stack of each thread, and the objects of each context.
#pragma once

#include <cstdint>

namespace standin::cuda {

// Count references to the primary context. The last release destroys it.
void* retain_primary_context(int device);
void release_primary_context(int device, const char* call);
bool has_primary_context(int device);
// Manage green contexts, which use the memory of the primary context and retain it.
void* create_green_context(int device);
void destroy_green_context(void* green, const char* call);
// Returns the primary context of a green context, or the context itself.
void* without_green(void* context);
// Manage contexts that an application creates. A context must be empty when it is destroyed.
void* create_context(int device);
void destroy_context(void* context, const char* call);
bool is_context(void* handle);
// Returns the GPU of a context. Ends the process if the handle is not a context.
int device_of(void* context, const char* call);

void push(void* context);
void* pop(const char* call);
void* current();  // NULL if there is none

// Lets the current context use the memory of another GPU's context. Returns false if it may already.
bool enable_peer(void* peer);
bool may_use_peer(void* context, void* peer);

// Returns the current GPU. Ends the process if no context is current.
int current_device(const char* call);

// Record the context in which a stream, event or allocation was made, by its handle or address.
void made_here(uintptr_t thing);
void gone(uintptr_t thing);
void* context_of(uintptr_t thing);  // NULL if it belongs to no context, like memory from a pool
// Ends the process if the object belongs to another context of the same GPU. The machine checks objects of
// other GPUs.
void check_context(uintptr_t thing, void* context, const char* call);

}  // namespace standin::cuda
