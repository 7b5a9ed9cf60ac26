/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file library.hpp
 * Backends and deferred work. arrowdevice.hpp has the conventions.
 */
#ifndef ARROWDEVICE_CPP_LIBRARY_HPP
#define ARROWDEVICE_CPP_LIBRARY_HPP

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "owner.hpp"

namespace arrowdevice {
namespace cpp {

/** Calls arrowdevice_backend_load(). */
inline void backend_load(const std::string& absolute_path) {
  detail::call(arrowdevice_backend_load, absolute_path.c_str());
}

/**
 * Calls arrowdevice_backend_get_report() for each place that the library has searched, in the order
 * of the search.
 */
inline std::vector<arrowdevice_backend_report> backend_reports() {
  std::vector<arrowdevice_backend_report> reports;
  for (;;) {
    auto report = detail::sized<arrowdevice_backend_report>();
    arrowdevice_error error{};
    const int code = arrowdevice_backend_get_report(static_cast<int64_t>(reports.size()), &report, &error);
    if (code == ENOENT) return reports;
    if (code != 0) throw Exception(code, error);
    reports.push_back(report);
  }
}

/** Calls arrowdevice_deferred_set_manual(). */
inline void deferred_set_manual(bool on) { detail::call(arrowdevice_deferred_set_manual, on ? 1 : 0); }

/** Calls arrowdevice_deferred_run() and returns the number of completed items. */
inline int64_t deferred_run(int64_t max = -1) {
  int64_t done = 0;
  detail::call(arrowdevice_deferred_run, max, &done);
  return done;
}

/** Calls arrowdevice_wait_idle(). */
inline void wait_idle(std::chrono::nanoseconds timeout = kNoTimeout) {
  detail::call(arrowdevice_wait_idle, detail::timeout_ns(timeout));
}

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_CPP_LIBRARY_HPP */
