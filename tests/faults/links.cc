// SPDX-License-Identifier: Apache-2.0
// Operations of servers and their clients. Server and client are in one process, so that allocations of both fail.
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "faults/scene.h"

namespace faults {
namespace {

struct LinkScene : Scene {
  LinkScene(const Rows& of, int64_t id, bool has_server = true) : Scene(of, id) {
    static std::atomic<int> last{0};
    uri = "unix:@arrowdevice-faults-" + std::to_string(getpid()) + "-" + std::to_string(++last);
    arrowdevice_error error{};
    if (has_server) check_code(create(error), 0, error);
  }
  ~LinkScene() {
    in.reset();
    out.reset();
    stream.reset();
    arrowdevice_server_destroy(server);
  }
  LinkScene(const LinkScene&) = delete;

  int create(arrowdevice_error& error) {
    server = poisoned_pointer<arrowdevice_server>();
    return arrowdevice_server_create(uri.c_str(), nullptr, &server, &error);
  }
  int add(arrowdevice_error& error) {
    return arrowdevice_server_add_arrays(server, "rows", rows.schema(), in.get(), 1, &error);
  }
  int connect(arrowdevice_error& error) {
    poison(*stream.out());
    return arrowdevice_stream_connect(uri.c_str(), nullptr, nullptr, stream.get(), &error);
  }
  int next(arrowdevice_error& error) {
    poison(*out.out());
    return arrowdevice_stream_get_next(stream.get(), out.get(), &error);
  }

  std::string uri;
  arrowdevice_server* server = nullptr;
  Owned<ArrowDeviceArrayStream> stream;
};

std::shared_ptr<LinkScene> with_arrays(const Rows& rows) {
  const auto scene = std::make_shared<LinkScene>(rows, kHost);
  arrowdevice_error error{};
  check_code(scene->add(error), 0, error);
  return scene;
}

// If the server lacks memory for the error too, the client sees the end of the connection.
Operation in_threads(Operation operation) {
  operation.has_threads = true;
  operation.keeps_blocks = true;
  operation.codes = {ECONNRESET, EPIPE};
  return operation;
}

Operation creating() {
  return of<LinkScene>(in_threads({.function = "server_create"}),
                       {.make = [] { return std::make_shared<LinkScene>(Rows::flat(), kHost, false); },
                        .run = [](LinkScene& scene, auto* error) { return scene.create(*error); },
                        .refused = [](LinkScene& scene) { check(scene.server == nullptr, "there is a server"); },
                        .done = [](LinkScene& scene) { check(scene.server != nullptr, "there is no server"); }});
}

Operation adding(const Rows& (*rows)(), int64_t id) {
  return of<LinkScene>(in_threads({.function = "server_add_arrays", .variant = std::string("on ") + kind_of(id)}),
                       {.make = [rows, id] { return std::make_shared<LinkScene>(rows(), id); },
                        .run = [](LinkScene& scene, auto* error) { return scene.add(*error); },
                        .refused = [](LinkScene& scene) { scene.check_input(); },
                        .done = [](LinkScene& scene) { scene.check_input(); }});
}

Operation connecting() {
  return of<LinkScene>(in_threads({.function = "stream_connect"}),
                       {.make = [] { return with_arrays(Rows::nested()); },
                        .run = [](LinkScene& scene, auto* error) { return scene.connect(*error); },
                        .refused = [](LinkScene& scene) { check(scene.stream.released(), "there is a stream"); },
                        .done = [](LinkScene& scene) { check(!scene.stream.released(), "there is no stream"); }});
}

Operation reading() {
  auto operation = in_threads({.function = "stream_get_next", .variant = "of another process"});
  operation.is_final = true;
  return of<LinkScene>(std::move(operation), {.make =
                                                  [] {
                                                    const auto scene = with_arrays(Rows::nested());
                                                    arrowdevice_error error{};
                                                    check_code(scene->connect(error), 0, error);
                                                    return scene;
                                                  },
                                              .run = [](LinkScene& scene, auto* error) { return scene.next(*error); },
                                              .refused = [](LinkScene& scene) { scene.check_released(); },
                                              .done = [](LinkScene& scene) { scene.check_output(); }});
}

// A source that gives no stream.
int refuse(void*, ArrowDeviceArrayStream*, arrowdevice_error*) { return EAGAIN; }

Operation offering_stream() {
  return of<LinkScene>(in_threads({.function = "server_add_stream"}),
                       {.make =
                            [] {
                              const auto scene = std::make_shared<LinkScene>(Rows::flat(), kHost);
                              Schema type;
                              must(arrowdevice_schema_copy, static_cast<const ArrowSchema*>(scene->rows.schema()),
                                   type.out());
                              must(arrowdevice_stream_from_arrays, type.get(), scene->in.get(), int64_t{1},
                                   ArrowDeviceType{ARROW_DEVICE_CPU}, scene->stream.out());
                              return scene;
                            },
                        .run =
                            [](LinkScene& scene, auto* error) {
                              return arrowdevice_server_add_stream(scene.server, "rows", scene.stream.get(), error);
                            },
                        .refused = [](LinkScene& scene) { check(!scene.stream.released(), "the stream was taken"); },
                        .done = [](LinkScene& scene) { check(scene.stream.released(), "the stream was not taken"); }});
}

Operation offering_source() {
  return of<LinkScene>(in_threads({.function = "server_add_source"}),
                       {.make = [] { return std::make_shared<LinkScene>(Rows::flat(), kHost); },
                        .run =
                            [](LinkScene& scene, auto* error) {
                              return arrowdevice_server_add_source(scene.server, "rows", refuse, nullptr, nullptr,
                                                                   error);
                            }});
}

template <typename Call>
Operation with_server(const char* function, const Call& call) {
  auto operation = in_threads({.function = function});
  operation.allocates = false;
  return of<LinkScene>(std::move(operation), {.make = [] { return with_arrays(Rows::flat()); }, .run = call});
}

int get_stats(LinkScene& scene, arrowdevice_error* error) {
  auto stats = sized<arrowdevice_server_stats>();
  return arrowdevice_server_get_stats(scene.server, &stats, error);
}

int destroy(LinkScene& scene, arrowdevice_error*) {
  arrowdevice_server_destroy(std::exchange(scene.server, nullptr));
  return 0;
}

}  // namespace

void add_links(Operations& operations) {
  operations.push_back(creating());
  for (const int64_t id : kPlaces) operations.push_back(adding(Rows::nested, id));
  operations.push_back(offering_stream());
  operations.push_back(offering_source());
  operations.push_back(with_server("server_remove", [](LinkScene& scene, auto* error) {
    return arrowdevice_server_remove(scene.server, "rows", error);
  }));
  operations.push_back(with_server("server_get_stats", get_stats));
  operations.push_back(with_server("server_destroy", destroy));
  operations.push_back(connecting());
  operations.push_back(reading());
}

}  // namespace faults
