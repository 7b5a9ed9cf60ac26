// SPDX-License-Identifier: Apache-2.0
// Addresses of servers: sockets with and without a file, descriptors of the program, and users.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "link_streams.h"

namespace {

using namespace link_test;  // NOLINT: what every line of these tests is written with

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("arrowdevice-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string file(const std::string& name) const { return path_ / name; }
  int64_t n_files() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path path_;
};

mode_t mode_of(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? facts.st_mode & 0777 : 0;
}

std::string refused_server(Expected expected, const std::string& uri,
                           const arrowdevice_server_options& options = server_options()) {
  arrowdevice_server* none = nullptr;
  return refused(expected, arrowdevice_server_create, uri.c_str(), &options, &none);
}

// Offers rows and reads them back.
std::string difference_through(Server& server, const std::string& uri) {
  const Sample sample(field("u"), kPlain);
  server.add("rows", stream_of(batches_of(sample, stream_test::kRows)));
  DeviceStream stream = connect(uri + "?name=rows");
  return difference_of_rest(sample, stream_test::kRows, stream);
}

TEST_CASE("addresses and options that are not valid are refused with the reason") {
  begin();
  CHECK(contains(refused_server(ENOTSUP, "prices"), "is none of unix:/PATH, unix:@NAME and fd:NUMBER"));
  CHECK(contains(refused_server(ENOTSUP, "tcp://host:1"), "is none of"));
  CHECK(contains(refused_server(EINVAL, "unix:"), "has no path"));
  CHECK(contains(refused_server(EINVAL, "unix:@"), "has no path"));
  CHECK(contains(refused_server(EINVAL, "unix:prices"), "does not begin with a slash"));
  CHECK(contains(refused_server(EINVAL, "unix:/a?size=1"), "something other than name="));
  CHECK(contains(refused_server(EINVAL, "unix:/a?name=b"), "the address of a server has no name"));
  CHECK(contains(refused_server(EINVAL, "unix:/a%2"), "two hexadecimal digits"));
  CHECK(contains(refused_server(EINVAL, "unix:/a%zz"), "two hexadecimal digits"));
  CHECK(contains(refused_server(EINVAL, "unix:/a%00"), "two hexadecimal digits"));
  CHECK(contains(refused_server(EINVAL, "unix:/" + std::string(200, 'x')), "has a path of 201 bytes (at most 106)"));
  CHECK(contains(refused_server(EINVAL, "fd:x"), "no number of a descriptor"));
  CHECK(contains(refused_server(EINVAL, "fd:-1"), "no number of a descriptor"));
  CHECK(contains(refused_server(EINVAL, "fd:1000000"), "names no stream socket"));
  const FileDescriptor file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  CHECK(contains(refused_server(EINVAL, "fd:" + std::to_string(file.get())), "names no stream socket"));
  CHECK(contains(refused_server(ENOENT, "unix:/no/such/folder/socket"), "/no/such/folder/socket"));
  CHECK(contains(refused_connect(ENOENT, "unix:/no/such/socket"), "no server at unix:/no/such/socket"));
  auto options = server_options(8);
  CHECK(contains(refused_server(EINVAL, new_address(), options), "options.flags has unknown bits 0x8"));
  options = server_options();
  options.max_clients = -1;
  CHECK(contains(refused_server(EINVAL, new_address(), options), "options.max_clients is -1"));
  options = server_options();
  options.max_client_bytes = -1;
  CHECK(contains(refused_server(EINVAL, new_address(), options), "options.max_client_bytes is -1"));
  options = server_options(0, ARROWDEVICE_COPY_ALWAYS);
  CHECK(contains(refused_server(EINVAL, new_address(), options), "expected 0 or COPY_NEVER"));
}

TEST_CASE("a socket with a file is the user's own, and goes with the server") {
  begin();
  const Folder folder;
  const std::string path = folder.file("prices");
  {
    Server server(server_options(), "unix:" + path);
    CHECK(mode_of(path) == 0600);
    CHECK(difference_through(server, server.uri()) == "");
    CHECK(contains(refused_server(EADDRINUSE, "unix:" + path), "another server has locked " + path + ".lock"));
  }
  CHECK(folder.n_files() == 0);
  {
    const Server open_to_all(server_options(ARROWDEVICE_LINK_ANY_USER), "unix:" + path);
    CHECK(mode_of(path) == 0666);
  }
  CHECK(folder.n_files() == 0);
  const FileDescriptor file(open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  CHECK(contains(refused_server(EEXIST, "unix:" + path), "exists, and is no socket"));
  CHECK(folder.n_files() == 1);
  Server spaced(server_options(), "unix:" + folder.file("a%20b"));
  CHECK(std::filesystem::exists(folder.file("a b")));
}

TEST_CASE("the files of a server that was killed are replaced") {
  begin();
  const Folder folder;
  const std::string uri = "unix:" + folder.file("prices");
  Peer peer([&](int socket) {
    const Server server(server_options(), uri);
    say(socket, "ready");
    pause();
  });
  REQUIRE(peer.answer() == "ready");
  CHECK(contains(refused_server(EADDRINUSE, uri), "another server"));
  peer.kill();
  CHECK(folder.n_files() == 2);
  CHECK(contains(refused_connect(ECONNREFUSED, uri), "no server at"));
  {
    Server server(server_options(), uri);
    CHECK(difference_through(server, uri) == "");
  }
  CHECK(folder.n_files() == 0);
}

TEST_CASE("the socket of another program stays") {
  begin();
  const Folder folder;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  folder.file("other").copy(address.sun_path, sizeof address.sun_path - 1);
  const FileDescriptor other(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(bind(other.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(other.get(), 1) == 0);
  CHECK(contains(refused_server(EADDRINUSE, "unix:" + folder.file("other")), "another program has a server at"));
  CHECK(folder.n_files() == 1);
}

TEST_CASE("a program connects two processes itself") {
  begin();
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  {
    const FileDescriptor of_server(ends[0]), of_client(ends[1]);
    const Sample sample(field("l"), kPlain);
    Server server(server_options(), "fd:" + std::to_string(of_server.get()));
    server.add("rows", stream_of(batches_of(sample, stream_test::kRows)));
    DeviceStream stream = connect("fd:" + std::to_string(of_client.get()) + "?name=rows");
    CHECK(difference_of_rest(sample, stream_test::kRows, stream) == "");
  }
}

TEST_CASE("a process of another user is refused unless both sides allow it") {
  if (geteuid() != 0) return;
  begin();
  const Folder folder;
  const std::string path = folder.file("prices");
  std::filesystem::permissions(std::filesystem::path(path).parent_path(), std::filesystem::perms::all);
  const Sample sample(mixed_batch(), {.rows = 70});
  const auto ask = [&](uint32_t flags) {
    return [&, flags](int socket) {
      while (hear(socket) == "go") {
        auto options = connect_options();
        options.flags = flags;
        DeviceStream stream;
        arrowdevice_error error{};
        const int code = arrowdevice_stream_connect(("unix:" + path).c_str(), nullptr, &options, stream.out(), &error);
        say(socket, code != 0 ? std::to_string(code) + " " + error.message : difference_of_rest(sample, 35, stream));
      }
    };
  };
  const auto as_nobody = [](const std::function<void(int)>& body) {
    return [body](int socket) {
      expect(setgid(1) == 0 && setuid(1) == 0, "the user cannot change");
      body(socket);
    };
  };
  const Peer strict(as_nobody(ask(0)));
  const Peer lenient(as_nobody(ask(ARROWDEVICE_LINK_ANY_USER)));
  const auto answer_of = [](const Peer& peer) {
    say(peer.socket(), "go");
    return peer.answer();
  };
  {
    const Server server(server_options(), "unix:" + path);
    CHECK(contains(answer_of(lenient), "13 no server at"));  // the file's mode
    std::filesystem::permissions(path, std::filesystem::perms::all);
    CHECK(contains(answer_of(lenient), "13 the client is a process of user 1, and this is one of user 0"));
    CHECK(contains(answer_of(strict), "13 the server is a process of user 0, and this is one of user 1"));
  }
  Server server(server_options(ARROWDEVICE_LINK_ANY_USER), "unix:" + path);
  const Pool pool = make_shareable_pool();
  Array array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  Array parts[2] = {slice(*array, *sample.schema, 0, 35), slice(*array, *sample.schema, 35, 35)};
  ArrowDeviceArray both[2] = {*parts[0], *parts[1]};
  for (auto& part : parts) part->array.release = nullptr;
  must(arrowdevice_server_add_arrays, server.get(), "rows", sample.schema.get(), both, int64_t{2});
  for (auto& one : both) one.array.release(&one.array);
  CHECK(contains(answer_of(strict), "13 the server is a process of user 0"));
  CHECK(server.stats().copied_bytes == 0);
  CHECK(answer_of(lenient) == "");
  CHECK(server.stats().copied_bytes > 0);  // the client must not see the rest of the pool's allocation
}

TEST_CASE("an isolated client sees no memory of others") {
  begin();
  const Sample sample(field("l"), {.rows = 60'000});
  const Pool pool = make_shareable_pool();
  Server server(server_options(ARROWDEVICE_LINK_ISOLATED));
  Array array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  server.add("rows", sample.schema, array);
  uint64_t files[3] = {};
  {
    DeviceStream first = connect(server.uri());
    DeviceStream second = connect(server.uri());
    const Array of_first = next(first);
    const Array of_second = next(second);
    files[0] = file_at(array->array.buffers[1]);
    files[1] = file_at(of_first->array.buffers[1]);
    files[2] = file_at(of_second->array.buffers[1]);
    CHECK(std::set<uint64_t>(std::begin(files), std::end(files)).size() == 3);
    CHECK(difference(sample, *of_first) == "");
    CHECK(difference(sample, *of_second) == "");
    CHECK(server.stats().copied_bytes == server.stats().bytes);
  }
  until([&] { return mappings_of(files[1]) == 0 && mappings_of(files[2]) == 0; });
}

TEST_CASE("an isolated client that wants the CPU gets one copy of its own") {
  begin();
  const Sample sample(field("l"), {.rows = 60'000});
  auto options = server_options(ARROWDEVICE_LINK_ISOLATED);
  options.max_client_bytes = 700'000;  // enough for one copy
  Server server(options);
  Array array = copy(sample, sim(kAddresses[0]));
  server.add("rows", sample.schema, array);
  std::set<uint64_t> files;
  for (int client = 0; client < 2; ++client) {
    DeviceStream stream = connect(server.uri(), cpu());
    const Array batch = next(stream);
    CHECK(difference(sample, *batch) == "");
    files.insert(file_at(batch->array.buffers[1]));
    stream.reset();
  }
  CHECK(files.size() == 2);  // the second one does not see the memory of the first
}

TEST_CASE("a client that needs copies of its own is refused if copying is ruled out") {
  begin();
  const Sample sample(field("l"), kPlain);
  const Pool pool = make_shareable_pool();
  Server server(server_options(ARROWDEVICE_LINK_ISOLATED, ARROWDEVICE_COPY_NEVER));
  Array array = copy(*sample.host, *sample.schema, cpu(), 0, nullptr, pool.get());
  server.add("rows", sample.schema, array);
  DeviceStream stream = connect(server.uri());
  CHECK(contains(next_fails(ENOTSUP, stream), "needs copies of its own"));
}

TEST_CASE("without descriptors, a client is refused and a server goes on") {
  begin();
  const Sample sample(field("l"), kPlain);
  Server server;
  Array array = copy(sample, cpu());
  server.add("rows", sample.schema, array);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit low{static_cast<rlim_t>(open_descriptors() + 20), limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &low);
  std::vector<FileDescriptor> taken;
  while (auto one = FileDescriptor::duplicate_of(0)) taken.push_back(std::move(one));
  // No CHECK before the descriptors are back: the undefined sanitizer needs some to look at an object.
  const auto options = connect_options(0, 200'000'000);
  DeviceStream none;
  arrowdevice_error error{};
  const auto connect_none = [&] {
    return arrowdevice_stream_connect(server.uri().c_str(), nullptr, &options, none.out(), &error);
  };
  const int without_any = connect_none();
  const std::string why = error.message;
  taken.pop_back();  // for the client, and none for the server
  const int without_one = connect_none();
  taken.clear();
  setrlimit(RLIMIT_NOFILE, &limit);
  CHECK(without_any == EMFILE);
  CHECK(contains(why, "no socket"));
  CHECK(without_one == ETIMEDOUT);
  DeviceStream stream = connect(server.uri());
  CHECK(difference(sample, *next(stream)) == "");
}

}  // namespace
