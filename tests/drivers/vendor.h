// SPDX-License-Identifier: Apache-2.0
// The stand-in under test, used through the vendor's API as an application beside the library uses it.
// STANDIN_VENDOR is "cuda" or "hip".
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/in_child.h"

namespace drivers {

struct Vendor {
  const char* name;
  const char* library;
  ArrowDeviceType device, pinned;
  // The vendor's names of these functions.
  const char *allocate, *free, *allocate_on, *free_on, *allocate_pinned, *free_pinned, *copy, *record, *query, *wait_on,
      *create_stream, *synchronize, *create_event, *question;  // `question`: about an address
  bool asks_before_copies = false;  // the backend asks about the target or source of each copy
};

const Vendor& vendor();
bool is_cuda();

// Returns a function of the stand-in's library, which it opens lazily. The calls of both vendors return 0
// on success.
void* find(const char* symbol);

template <typename... Arguments>
int call(const char* symbol, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(find(symbol))(arguments...);
}

// Calls the function of the vendor under test, which must succeed.
template <typename... Arguments>
void must_call_vendor(const char* of_cuda, const char* of_hip, Arguments... arguments) {
  const char* const symbol = is_cuda() ? of_cuda : of_hip;
  if (call(symbol, arguments...) != 0) throw std::runtime_error(std::string(symbol) + " failed");
}

// The stand-in's control functions (see machine/control.h).
void fail_nth(const std::string& call, int64_t n, int code);
void fail_no_more();
void hold_call(const std::string& call);
int64_t calls(const std::string& call);
void hold();
void resume();
int64_t live_allocations();
std::vector<std::string> entry_points();
// Returns the name of an entry point in the backend's messages. Two forms with the same parameters share a name.
std::string name_in_messages(const std::string& entry_point);

// Returns a number for the GPU that the application has made current on this thread. The number differs for
// each GPU and for none.
intptr_t current();
void make_current(int ordinal);
void undo_make_current();

// Create and use objects of the application while that GPU is current.
void* create_stream(int ordinal);
void destroy_stream(int ordinal, void* stream);
void* create_event(int ordinal);
void destroy_event(int ordinal, void* event);
void record(int ordinal, void* event, void* stream);

// Register ordinary host memory of the application on GPU 0.
void register_memory(void* memory, size_t size);
void unregister_memory(void* memory);

// The modes of a capture, with the vendors' numbers. end_capture() returns false if the capture was invalidated.
enum CaptureMode : unsigned { kGlobalCapture = 0, kThreadLocalCapture = 1, kRelaxedCapture = 2 };
void begin_capture(int ordinal, void* stream, CaptureMode mode);
bool end_capture(int ordinal, void* stream);
CaptureMode exchange_capture_mode(CaptureMode mode);

// No driver is open yet in a child process.
using arrowdevice::testing::contains;
using arrowdevice::testing::expect;
using arrowdevice::testing::in_child;
using arrowdevice::testing::must;
using arrowdevice::testing::must_fail_once;
using arrowdevice::testing::output_of;
using arrowdevice::testing::sized;

}  // namespace drivers
