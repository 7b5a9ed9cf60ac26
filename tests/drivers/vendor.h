// SPDX-License-Identifier: Apache-2.0
// The stand-in under test, as an application beside the library uses the vendor's API: STANDIN_VENDOR is "cuda" or
// "hip".
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/in_child.h"

namespace drivers {

struct Vendor {
  const char* library;
  ArrowDeviceType device, pinned;
  // What it calls things.
  const char *allocate, *free, *allocate_on, *free_on, *allocate_pinned, *free_pinned, *copy, *record, *query, *wait_on;
};

const Vendor& vendor();

// A function of the stand-in's library, which is opened at first need. Both vendors' calls return 0 on success.
void* find(const char* symbol);

template <typename... Arguments>
int call(const char* symbol, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(find(symbol))(arguments...);
}

// The stand-in's own functions, see machine/control.h.
void fail_nth(const std::string& call, int64_t n, int code);
void fail_no_more();
void hold_call(const std::string& call);
int64_t calls(const std::string& call);
void hold();
void resume();
int64_t live_allocations();
std::vector<std::string> entry_points();

// What the application has made current on this thread: another number for each GPU, and for none.
intptr_t current();
void make_current(int ordinal);
void undo_make_current();

// Of the application, made and used while that GPU is current.
void* create_stream(int ordinal);
void destroy_stream(int ordinal, void* stream);
void* create_event(int ordinal);
void destroy_event(int ordinal, void* event);
void record(int ordinal, void* event, void* stream);

// In a child process no driver is open yet.
using arrowdevice::testing::contains;
using arrowdevice::testing::expect;
using arrowdevice::testing::in_child;

}  // namespace drivers
