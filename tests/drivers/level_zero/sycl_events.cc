// SPDX-License-Identifier: Apache-2.0
// A libsycl.so with the functions of sycl::event under the names that a runtime exports. With
// SYCL_BEFORE_2023 these are the names of older runtimes. SYCL_WITHOUT_STATUS omits the function that
// returns the status of an event.
#include "level_zero/sycl_events.h"

#include <atomic>
#include <stdexcept>

#define EXPORT __attribute__((visibility("default")))

namespace {

struct State {
  void (*work)(void*);
  void* argument;
  int32_t failure;
  std::atomic<bool> is_over{false};
  std::atomic<int64_t> waits{0};
};

void wait_for(State& state) {
  ++state.waits;
  if (state.failure == 1) throw std::runtime_error("the kernel failed");
  if (state.failure != 0) throw state.failure;
  if (!state.is_over.exchange(true) && state.work != nullptr) state.work(state.argument);
}

}  // namespace

// These types exist only because the mangled names of the functions contain their names.
#ifdef SYCL_BEFORE_2023
namespace cl::sycl {
namespace info {
enum class event : int32_t { command_execution_status = 4563 };
enum class event_command_status : int32_t { complete = 0, running = 1, submitted = 2 };
template <typename T, T param>
struct param_traits {};
template <>
struct param_traits<event, event::command_execution_status> {
  using return_type = event_command_status;
};
}  // namespace info
class event {
 public:
  EXPORT void wait();
#ifndef SYCL_WITHOUT_STATUS
  template <info::event param>
  typename info::param_traits<info::event, param>::return_type get_info() const;
#endif
};
#else
namespace sycl {
inline namespace _V1 {
namespace info {
enum class event_command_status : int32_t { complete = 0, running = 1, submitted = 2 };
namespace event {
struct command_execution_status {
  using return_type = event_command_status;
};
}  // namespace event
}  // namespace info
namespace detail {
template <typename T>
struct is_event_info_desc {
  using return_type = typename T::return_type;
};
}  // namespace detail
class event {
 public:
  EXPORT void wait();
#ifndef SYCL_WITHOUT_STATUS
  template <typename Param>
  typename detail::is_event_info_desc<Param>::return_type get_info() const;
#endif
};
}  // namespace _V1
#endif

void event::wait() { wait_for(*reinterpret_cast<State*>(this)); }

#ifndef SYCL_WITHOUT_STATUS
template <>
EXPORT info::event_command_status event::get_info<info::event::command_execution_status>() const {
  const bool is_over = reinterpret_cast<const State*>(this)->is_over;
  return is_over ? info::event_command_status::complete : info::event_command_status::submitted;
}
#endif

}  // namespace cl::sycl, or sycl

extern "C" {

EXPORT void* sycl_event_create(void (*work)(void*), void* argument, int32_t failure) {
  return new State{.work = work, .argument = argument, .failure = failure};
}

EXPORT void sycl_event_complete(void* event) { static_cast<State*>(event)->is_over = true; }

EXPORT int64_t sycl_event_waits(const void* event) { return static_cast<const State*>(event)->waits; }

EXPORT void sycl_event_destroy(void* event) { delete static_cast<State*>(event); }
}
