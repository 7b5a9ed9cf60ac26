// SPDX-License-Identifier: Apache-2.0
// Programs with two copies of the library, including programs that close a copy while its arrays are alive.
// The arrays of each copy are foreign to the other, even on devices, because both use the same plugin.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "library.h"
#include "program.h"

// Sets an option of the address sanitizer. Its leak checker crashes on thread-local variables in libraries
// that were loaded later (GCC 12 with glibc 2.36).
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "intercept_tls_get_addr=0";
}

namespace {

using namespace stress;  // NOLINT: what every line of these programs is written with

// Copies `array` to a device with that copy of the library.
Array copy_by(const Library& library, const ArrowDeviceArray& array, const SampleRows& sample, arrowdevice_device* to,
              uint32_t flags = 0) {
  const auto options = copy_options(flags);
  return output_of(library.array_copy, &array, sample.schema.get(), to, &options);
}

arrowdevice_device* device_of(const Library& library, const char* name) {
  arrowdevice_device* device = nullptr;
  const bool is_cpu = std::string(name) == "cpu";
  must(library.device_find_by_id, ArrowDeviceType{is_cpu ? ARROW_DEVICE_CPU : ARROW_DEVICE_EXT_DEV},
       int64_t{is_cpu ? -1 : name[0] - '0'}, &device);
  return device;
}

std::string difference_by(const Library& library, const SampleRows& sample, const ArrowDeviceArray& array,
                          int64_t first = 0) {
  const Array here = copy_by(library, array, sample, device_of(library, "cpu"));
  return arrowdevice::testing::difference(*sample.schema, *sample.twin, first, *sample.schema, here->array, 0,
                                          here->array.length);
}

// -- a copy uses an array of the other and takes it over

using Use = void (*)(const Library& user, const Library& maker, const SampleRows& sample, const char* device,
                     Array array);

void release(const Library& user, const Library&, const SampleRows&, const char*, Array array) {
  user.array_release(array.get());
}

void import(const Library& user, const Library& maker, const SampleRows& sample, const char* device, Array array) {
  auto* queue = output_of(user.queue_create, device_of(user, device));
  auto options = sized<arrowdevice_import_options>();
  options.flags = ARROWDEVICE_IMPORT_RESOLVE_SIZES;
  options.queue = queue;
  auto* view = output_of(user.array_import, array.get(), sample.schema.get(), &options);
  Array shared, detached;
  must(user.view_share, view, shared.out());
  user.view_detach(view, detached.out());
  check_same(difference_by(maker, sample, *shared));
  must(user.array_import, detached.get(), sample.schema.get(), nullptr, &view);
  must(user.view_release_after, view, queue);
  check_same(difference_by(user, sample, *shared));
  user.queue_destroy(queue);
  maker.array_release(shared.get());
}

void share_back_and_forth(const Library& user, const Library& maker, const SampleRows& sample, const char*,
                          Array array) {
  Array shares[4];
  for (size_t i = 0; i < std::size(shares); ++i) {
    must((i % 2 == 0 ? user : maker).array_share, array.get(), shares[i].out());
  }
  Array of_share = output_of(user.array_share, shares[1].get());
  must(maker.array_share, shares[0].get(), array.out());
  for (auto& share : shares) share.reset();
  check_same(difference_by(user, sample, *of_share));
  of_share.reset();
  check_same(difference_by(maker, sample, *array));
}

void slice(const Library& user, const Library& maker, const SampleRows& sample, const char*, Array array) {
  Array part, smaller;
  must(user.array_slice, array.get(), sample.schema.get(), int64_t{5}, int64_t{20}, part.out());
  array.reset();
  must(maker.array_slice, part.get(), sample.schema.get(), int64_t{2}, int64_t{9}, smaller.out());
  check_same(difference_by(user, sample, *part, 5));
  part.reset();
  check_same(difference_by(maker, sample, *smaller, 7));
}

void select(const Library& user, const Library& maker, const SampleRows& sample, const char*, Array array) {
  const int64_t columns[] = {0, 1, 2, 3};
  const int64_t one[] = {2};
  Array all, column;
  must(user.array_select, array.get(), sample.schema.get(), columns, int64_t{std::size(columns)}, all.out(), nullptr);
  must(maker.array_select, all.get(), sample.schema.get(), one, int64_t{1}, column.out(), nullptr);
  ArrowArray moved_out = *column->array.children[0];  // the parent is released first
  column->array.children[0]->release = nullptr;
  column.reset();
  array.reset();
  check_same(difference_by(user, sample, *all));
  all.reset();
  moved_out.release(&moved_out);
}

void copy_on(const Library& user, const Library& maker, const SampleRows& sample, const char* device, Array array) {
  const Array again = copy_by(user, *array, sample, device_of(user, device), ARROWDEVICE_COPY_ASYNC);
  check_same(difference_by(maker, sample, *again));
  auto* queue = output_of(maker.queue_create, device_of(maker, device));
  must(maker.queue_wait_array, queue, again.get(), nullptr);
  must(maker.array_release_after, array.get(), queue);
  maker.queue_destroy(queue);
}

void move(const Library& user, const Library& maker, const SampleRows& sample, const char* device, Array array) {
  for (const char* to : {"0", "1", device, "cpu", "1", device}) {
    for (const Library* by : {&user, &maker}) {
      const auto options = copy_options(ARROWDEVICE_COPY_ASYNC);
      Array out = output_of(by->array_to_device, array.get(), sample.schema.get(), device_of(*by, to), &options);
      array = std::move(out);
    }
  }
  check_same(difference_by(user, sample, *array));
}

void to_host(const Library& user, const Library& maker, const SampleRows& sample, const char*, Array array) {
  auto host = output_of(user.array_to_host, array.get(), sample.schema.get(), nullptr);
  must(maker.array_from_host, host.get(), array.out());
  check_same(difference_by(user, sample, *array));
}

void wait(const Library& user, const Library&, const SampleRows& sample, const char*, Array array) {
  must(user.array_wait, array.get(), nullptr, int64_t{ARROWDEVICE_NO_TIMEOUT});
  int ready = output_of(user.array_is_ready, array.get(), nullptr);
  check_equal(ready, 1, "whether an array is ready that was waited for");
  check_same(difference_by(user, sample, *array));
}

void expect_unused(const Library& library, const char* device) {
  must(library.wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
  auto* pool = output_of(library.device_get_pool, device_of(library, device));
  auto stats = output_of(library.pool_get_stats, pool);
  check_equal(stats.used_bytes, 0, "bytes in use at the end");
}

void work_together() {
  const Library linked = linked_library();
  const Library loaded = load_copy();
  const SampleRows sample(batch());
  const std::pair<const Library*, const Library*> pairs[] = {{&linked, &loaded}, {&loaded, &linked}};
  for (const auto& [user, maker] : pairs) {
    for (const char* device : {"cpu", "0", "1"}) {
      for (const Use use : {release, import, share_back_and_forth, slice, select, copy_on, move, to_host, wait}) {
        for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_COPY_ASYNC}}) {
          const Array host = sample.array();
          Array array = copy_by(*maker, *host, sample, device_of(*maker, device), flags);
          use(*user, *maker, sample, device, std::move(array));
          must(linked.wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});  // `host` is read until then
          must(loaded.wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
        }
      }
    }
  }
  check_equal(sample.ledger.live(), 0, "host arrays that are alive");
  for (const Library* library : {&linked, &loaded}) {
    for (const char* device : {"cpu", "0", "1"}) expect_unused(*library, device);
  }
}

// -- the end of the process

struct Crossed {
  SampleRows sample{batch()};
  std::vector<Array> arrays;
};

Crossed* crossed;

// Makes arrays of each copy that the other copy shares, ready and pending, on every device.
void make_crossed(const Library& linked, const Library& loaded) {
  crossed = new Crossed;
  const std::pair<const Library*, const Library*> pairs[] = {{&linked, &loaded}, {&loaded, &linked}};
  for (const auto& [user, maker] : pairs) {
    for (const char* device : {"cpu", "0", "1"}) {
      for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_COPY_ASYNC}}) {
        crossed->arrays.push_back(crossed->sample.array());
        Array array = copy_by(*maker, *crossed->arrays.back(), crossed->sample, device_of(*maker, device), flags);
        Array shared = output_of(user->array_share, array.get());
        crossed->arrays.push_back(std::move(array));
        crossed->arrays.push_back(std::move(shared));
        Array released = copy_by(*maker, *crossed->arrays.back(), crossed->sample, device_of(*maker, device), flags);
        auto* queue = output_of(user->queue_create, device_of(*user, device));
        must(user->array_release_after, released.get(), queue);
        user->queue_destroy(queue);
      }
    }
  }
}

void both_forgotten() { make_crossed(linked_library(), load_copy()); }

void both_released_late() {
  check(std::atexit([] {
          crossed->arrays.clear();
          check_equal(crossed->sample.ledger.live(), 0, "host arrays that are alive after a late release");
          delete crossed;
          crossed = nullptr;
        }) == 0,
        "no room for an exit handler");
  make_crossed(linked_library(), load_copy());
}

void both_in_a_child() {
  make_crossed(linked_library(), load_copy());
  const pid_t child = fork();
  check(child >= 0, "fork failed");
  if (child == 0) {
    crossed->arrays.clear();
    check_equal(crossed->sample.ledger.live(), 0, "host arrays that are alive in a child");
    _exit(0);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child, "waitpid failed");
  check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child did not end well");
  for (const auto& array : crossed->arrays) check_same(difference(crossed->sample, *array));
}

// -- closing a copy

void closed_with_arrays_alive() {
  const Library library = load_copy();
  SampleRows sample(batch());
  std::vector<Array> arrays;
  for (const char* device : {"cpu", "0", "1"}) {
    for (const uint32_t flags : {0u, uint32_t{ARROWDEVICE_COPY_ASYNC}}) {
      arrays.push_back(sample.array());
      Array array = copy_by(library, *arrays.back(), sample, device_of(library, device), flags);
      Array part = output_of(library.array_slice, array.get(), sample.schema.get(), int64_t{3}, int64_t{8});
      arrays.push_back(std::move(array));
      arrays.push_back(std::move(part));
      Array deferred = sample.array();
      auto* queue = output_of(library.queue_create, device_of(library, device));
      must(library.array_release_after, deferred.get(), queue);
      library.queue_destroy(queue);
    }
  }
  check(dlclose(library.handle) == 0, "dlclose failed");
  check(is_loaded(library), "the library was unloaded although its arrays are alive");
  for (const auto& array : arrays)
    must(::arrowdevice_array_wait, array.get(), nullptr, int64_t{ARROWDEVICE_NO_TIMEOUT});
  arrays.clear();
  must(library.wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});  // its code is still loaded
  check_equal(sample.ledger.live(), 0, "host arrays that are alive");
}

void closed_and_opened_again() {
  const Library library = load_copy();
  arrowdevice_device* const device = device_of(library, "0");
  check(dlclose(library.handle) == 0, "dlclose failed");
  void* const again = dlopen(library.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  check(again != nullptr, "dlopen failed");
  check(dlsym(again, "arrowdevice_array_copy") == reinterpret_cast<void*>(library.array_copy), "it is another library");
  check(device_of(library, "0") == device, "it has forgotten its devices");
  dlclose(again);
}

void closed_and_forgotten() {
  make_crossed(linked_library(), load_copy());
  const Library again = load_copy();
  crossed->arrays.push_back(copy_by(again, *crossed->arrays.front(), crossed->sample, device_of(again, "1")));
  check(dlclose(again.handle) == 0, "dlclose failed");
}

constexpr Scenario kScenarios[] = {
    {"two copies of the library use, share and release each other's arrays", work_together},
    {"a program that releases nothing of two copies ends well", both_forgotten},
    {"an exit handler older than two copies releases everything of both", both_released_late},
    {"children abandon what two copies have on devices, and release what they have on the CPU", both_in_a_child},
    {"a library that is closed with arrays alive stays, and they are released", closed_with_arrays_alive},
    {"a library that is closed and opened again is the same one", closed_and_opened_again},
    {"a program that closes the library and releases nothing ends well", closed_and_forgotten},
};

}  // namespace

int main(int argc, char** argv) { return play(kScenarios, argc, argv); }
