// SPDX-License-Identifier: Apache-2.0
#include "cpu/cpu_backend.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <span>
#include <string>

#include "base/checked.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/regions.h"
#include "base/text.h"

namespace arrowdevice {
namespace {

constexpr ArrowDeviceType kDeviceTypes[] = {ARROW_DEVICE_CPU};
constexpr int64_t kAlignment = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;

// The CPU is one device, and its work is done when a call returns. Handles therefore only need to differ from NULL.
char the_device, the_queue, the_event;

int64_t physical_memory(int name) {
  const long pages = sysconf(name);
  const long page = sysconf(_SC_PAGESIZE);
  return pages < 0 || page < 0 ? -1 : int64_t{pages} * page;
}

// Returns the memory that the kernel can provide without swapping. The count of free pages would exclude the page
// cache.
int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  int64_t kilobytes = 0;
  for (std::string unit; file >> key >> kilobytes; std::getline(file, unit)) {
    if (key == "MemAvailable:") return kilobytes * 1024;
  }
  return physical_memory(_SC_AVPHYS_PAGES);
}

std::string processor_name() {
  errno = 0;
  std::ifstream file("/proc/cpuinfo");
  if (!file && errno == ENOMEM) throw std::bad_alloc();  // the result is cached until the process ends
  file.exceptions(file.badbit);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != line.npos) return line.substr(colon + 2);
  }
  return "CPU";
}

int device_count(ArrowDeviceType, int64_t* out, arrowdevice_error*) {
  *out = 1;
  return 0;
}

int device_open(ArrowDeviceType, int64_t device_id, void** device, arrowdevice_error* error) {
  if (device_id != 0) {
    fill_error(error, ENODEV, 0, {},
               format("there is no cpu:%lld, the CPU is one device", static_cast<long long>(device_id)));
    return ENODEV;
  }
  *device = &the_device;
  return 0;
}

int device_get_info(void*, arrowdevice_device_info* out, arrowdevice_error* error) {
  return guarded(error, [&] {
    copy_text(out->name, processor_name());
    out->total_memory = physical_memory(_SC_PHYS_PAGES);
    out->buffer_alignment = kAlignment;
    out->sub_buffer_alignment = 1;
    out->flags = ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_HOST_READABLE;
  });
}

int buffer_allocate(void*, void*, int64_t size, int64_t alignment, void** out, arrowdevice_error* error) {
  return guarded(error, [&] {
    // Uses huge pages for large blocks, because the first use of small pages costs several times as much as the copy.
    const bool huge = size >= kHugePage;
    const int64_t boundary = huge ? kHugePage : std::max(alignment, kAlignment);
    const int64_t whole = align_up(size, boundary);
    void* block = std::aligned_alloc(static_cast<size_t>(boundary), static_cast<size_t>(whole));
    if (block == nullptr) {
      throw Error(ENOMEM, format("host memory is exhausted (%lld bytes)", static_cast<long long>(size)));
    }
    if (huge) {
      // A kernel without huge pages refuses. The memory is usable, but slower.
      [[maybe_unused]] const int advised = madvise(block, static_cast<size_t>(whole), MADV_HUGEPAGE);
    }
    *out = block;
  });
}

void buffer_free(void*, void*, void* buffer) { std::free(buffer); }

int queue_create(void*, void** queue, arrowdevice_error*) {
  *queue = &the_queue;
  return 0;
}

void queue_destroy(void*) {}

// Copies with several threads, which take pieces in turn.
void copy_by_threads(std::span<const arrowdevice_backend_region> regions) {
  constexpr int64_t kPiece = 2 * kHugePage;
  std::mutex mutex;
  RegionWalk walk(regions);
  parallel::run(parallel::copy_threads(), [&] {
    std::unique_lock lock(mutex);
    while (!walk.at_end()) {
      const auto piece = walk.take(kPiece);
      lock.unlock();
      copy_on_host(piece);
      lock.lock();
    }
  });
}

int queue_copy(void*, const arrowdevice_backend_region* regions, int64_t n, arrowdevice_error* error) {
  // For copies to unused memory, two threads are twice as fast above this size and no faster below it.
  constexpr int64_t kLeastBytesForThreads = int64_t{128} << 20;
  return guarded(error, [&] {
    const std::span all(regions, static_cast<size_t>(n));
    if (bytes_of(all) >= kLeastBytesForThreads) return copy_by_threads(all);
    for (const auto& region : all) copy_on_host(region);
  });
}

int event_record(void*, void** event, arrowdevice_error*) {
  *event = &the_event;
  return 0;
}

int event_query(void*, int* ready, arrowdevice_error*) {
  *ready = 1;
  return 0;
}

int event_wait(void*, int64_t, arrowdevice_error*) { return 0; }

int queue_wait_event(void*, void*, arrowdevice_error*) { return 0; }

void event_destroy(void*) {}

int device_get_memory_info(void*, int64_t* free_bytes, int64_t* total_bytes, arrowdevice_error* error) {
  return guarded(error, [&] {
    *free_bytes = available_memory();
    *total_bytes = physical_memory(_SC_PHYS_PAGES);
  });
}

arrowdevice_backend make_table() noexcept {
  arrowdevice_backend table{};
  table.struct_size = sizeof table;
  table.abi_version = ARROWDEVICE_BACKEND_ABI_VERSION;
  table.name = "cpu";
  table.version = "built in";
  table.device_types = kDeviceTypes;
  table.n_device_types = 1;
  table.device_count = device_count;
  table.device_open = device_open;
  table.device_get_info = device_get_info;
  table.buffer_allocate = buffer_allocate;
  table.buffer_free = buffer_free;
  table.queue_create = queue_create;
  table.queue_destroy = queue_destroy;
  table.queue_copy = queue_copy;
  table.event_record = event_record;
  table.event_query = event_query;
  table.event_wait = event_wait;
  table.queue_wait_event = queue_wait_event;
  table.event_destroy = event_destroy;
  table.device_get_memory_info = device_get_memory_info;
  return table;
}

}  // namespace

const arrowdevice_backend& cpu_backend() noexcept {
  static const arrowdevice_backend table = make_table();
  return table;
}

}  // namespace arrowdevice
