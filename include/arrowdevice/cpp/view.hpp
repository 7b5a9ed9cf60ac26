/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file view.hpp
 * Views of imported arrays. arrowdevice.hpp has the conventions.
 */
#ifndef ARROWDEVICE_CPP_VIEW_HPP
#define ARROWDEVICE_CPP_VIEW_HPP

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "array.hpp"
#include "device.hpp"
#include "owner.hpp"
#include "values.hpp"

namespace arrowdevice {
namespace cpp {

/**
 * Makes options with `struct_size` and these flags (ARROWDEVICE_IMPORT_*). All other members are 0.
 */
inline arrowdevice_import_options import_options(uint32_t flags = 0) noexcept {
  auto options = detail::sized<arrowdevice_import_options>();
  options.flags = flags;
  return options;
}

/** Owns an imported array and shows its typed buffers. The destructor releases the array. */
class View : public detail::HandleOwner<arrowdevice_view, arrowdevice_view_release> {
 public:
  using HandleOwner::HandleOwner;
  /** Calls arrowdevice_array_import(). */
  View(DeviceArray&& moved, const Schema& schema) : HandleOwner(make(moved, schema, nullptr)) {}
  View(DeviceArray&& moved, const Schema& schema, const arrowdevice_import_options& options)
      : HandleOwner(make(moved, schema, &options)) {}

  /** Returns the root of the tree of nodes, which is valid as long as the view. */
  const arrowdevice_node& root() const { return held(arrowdevice_view_get_root(get())); }
  /**
   * Returns the root, from which values are read. A Node or Span refers to its view, so node(),
   * column(), values() and device_values() cannot be called on a temporary view.
   */
  Node node() const& { return Node(root(), device()); }
  void node() const&& = delete;
  /** Calls Node::child() of the root, which gives a column of a record batch. */
  Node column(std::string_view name) const& { return node().child(name); }
  Node column(int64_t index) const& { return node().child(index); }
  /**
   * Calls Node::values() or Node::device_values() of the root, for an array that is not a record
   * batch.
   */
  template <typename T>
  Span<const T> values() const& {
    return node().values<T>();
  }
  template <typename T>
  DeviceSpan<const T> device_values() const& {
    return node().device_values<T>();
  }
  void column(std::string_view) const&& = delete;
  void column(int64_t) const&& = delete;
  template <typename T>
  void values() const&& = delete;
  template <typename T>
  void device_values() const&& = delete;
  /** Calls arrowdevice_array_wait(), which makes the CPU wait until the array is ready. */
  void wait(std::chrono::nanoseconds timeout = kNoTimeout) const {
    detail::call(arrowdevice_array_wait, arrowdevice_view_get_array(get()), arrowdevice_view_get_device(get()),
                 detail::timeout_ns(timeout));
  }
  /** Returns the array, which the view owns. */
  const ArrowDeviceArray& array() const { return held(arrowdevice_view_get_array(get())); }
  Device device() const noexcept { return arrowdevice_view_get_device(get()); }
  /** Calls arrowdevice_view_share(). */
  DeviceArray share() const {
    DeviceArray out;
    detail::call(arrowdevice_view_share, static_cast<const arrowdevice_view*>(get()), out.get());
    return out;
  }
  /** Calls arrowdevice_view_detach(), which ends the view. */
  DeviceArray detach() && noexcept {
    DeviceArray out;
    arrowdevice_view_detach(give_up(), out.get());
    return out;
  }
  /**
   * Calls arrowdevice_view_release_after(), which ends the view and releases its array after the
   * queue's work.
   */
  void release_after(const Queue& queue) && {
    detail::call(arrowdevice_view_release_after, get(), queue.get());
    give_up();
  }

 private:
  template <typename T>
  static const T& held(const T* of_view) {
    if (of_view == nullptr) detail::fail(EINVAL, "the view is released");
    return *of_view;
  }
  static arrowdevice_view* make(DeviceArray& moved, const Schema& schema, const arrowdevice_import_options* options) {
    arrowdevice_view* view = nullptr;
    detail::call(arrowdevice_array_import, moved.get(), schema.get(), options, &view);
    return view;
  }
};

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_CPP_VIEW_HPP */
