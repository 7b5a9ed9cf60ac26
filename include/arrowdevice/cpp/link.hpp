/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file link.hpp
 * Streams between processes. arrowdevice.hpp has the conventions.
 */
#ifndef ARROWDEVICE_CPP_LINK_HPP
#define ARROWDEVICE_CPP_LINK_HPP

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"
#include "device.hpp"
#include "owner.hpp"
#include "stream.hpp"

namespace arrowdevice {
namespace cpp {

/** Makes options with `struct_size` and these flags (ARROWDEVICE_LINK_*). All other members are 0. */
inline arrowdevice_server_options server_options(uint32_t flags = 0) noexcept {
  auto options = detail::sized<arrowdevice_server_options>();
  options.flags = flags;
  return options;
}
inline arrowdevice_connect_options connect_options(uint32_t flags = 0) noexcept {
  auto options = detail::sized<arrowdevice_connect_options>();
  options.flags = flags;
  return options;
}

/**
 * Owns a server. The destructor calls arrowdevice_server_destroy(), which waits for calls of the
 * program's streams and sources.
 */
class Server : public detail::HandleOwner<arrowdevice_server, arrowdevice_server_destroy> {
 public:
  using HandleOwner::HandleOwner;

  /** Calls arrowdevice_server_create(). */
  static Server create(const std::string& uri, const arrowdevice_server_options& options = server_options()) {
    arrowdevice_server* made = nullptr;
    detail::call(arrowdevice_server_create, uri.c_str(), &options, &made);
    return Server(made);
  }
  /** Calls arrowdevice_server_add_stream(). If the call throws, the stream is as it was. */
  void add(const std::string& name, DeviceArrayStream&& moved) {
    detail::call(arrowdevice_server_add_stream, get(), name.c_str(), moved.get());
  }
  /** Calls arrowdevice_server_add_arrays(). The arrays stay with the caller and become shared owners. */
  void add(const std::string& name, const Schema& schema, std::vector<DeviceArray>& arrays) {
    std::vector<ArrowDeviceArray> bare(arrays.size());
    for (size_t i = 0; i < bare.size(); ++i) arrays[i].hand_over(&bare[i]);
    arrowdevice_error error{};
    const int code = arrowdevice_server_add_arrays(get(), name.c_str(), schema.get(), bare.data(),
                                                   static_cast<int64_t>(bare.size()), &error);
    for (size_t i = 0; i < bare.size(); ++i) arrays[i] = DeviceArray(&bare[i]);
    if (code != 0) throw Exception(code, error);
  }
  /**
   * Calls arrowdevice_server_add_source(). The library's threads call the function, several at once.
   * The client gets the code and the text of an Exception that it throws.
   */
  void add(const std::string& name, std::function<DeviceArrayStream()> source) {
    using Source = std::function<DeviceArrayStream()>;
    std::unique_ptr<Source> held(new Source(std::move(source)));
    detail::call(arrowdevice_server_add_source, get(), name.c_str(), open, static_cast<void*>(held.get()), release);
    static_cast<void>(held.release()); /* the server owns it */
  }
  /** Calls arrowdevice_server_remove(). */
  void remove(const std::string& name) { detail::call(arrowdevice_server_remove, get(), name.c_str()); }
  /** Calls arrowdevice_server_get_stats(). */
  arrowdevice_server_stats stats() const {
    auto out = detail::sized<arrowdevice_server_stats>();
    detail::call(arrowdevice_server_get_stats, static_cast<const arrowdevice_server*>(get()), &out);
    return out;
  }

 private:
  static int open(void* user, ArrowDeviceArrayStream* out, arrowdevice_error* error) {
    try {
      (*static_cast<std::function<DeviceArrayStream()>*>(user))().hand_over(out);
      return 0;
    } catch (const Exception& failure) {
      *error = failure.error();
      return failure.code();
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    } catch (const std::exception& failure) {
      std::string(failure.what()).copy(error->message, sizeof error->message - 1);
      return EIO;
    }
  }
  static void release(void* user) { delete static_cast<std::function<DeviceArrayStream()>*>(user); }
};

/** Calls arrowdevice_stream_connect(). An empty device leaves the batches where the server has them. */
inline DeviceArrayStream connect(const std::string& uri, Device to = {},
                                 const arrowdevice_connect_options& options = connect_options()) {
  DeviceArrayStream out;
  detail::call(arrowdevice_stream_connect, uri.c_str(), to.get(), &options, out.get());
  return out;
}

}  // namespace cpp
}  // namespace arrowdevice

#endif /* ARROWDEVICE_CPP_LINK_HPP */
