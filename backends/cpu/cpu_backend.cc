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

#include "base/backend_table.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/regions.h"
#include "base/shared_memory.h"
#include "base/text.h"

namespace arrowdevice {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kHugePage = int64_t{2} << 20;

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

// The CPU is one device, and its work is done when a call returns. Handles therefore only need to differ from NULL.
struct Device {};
struct Queue {};
struct Event {};
Device the_device;
Queue the_queue;
Event the_event;

struct Functions {
  using Device = arrowdevice::Device;
  using Queue = arrowdevice::Queue;
  using Event = arrowdevice::Event;

  static int64_t device_count(ArrowDeviceType) noexcept { return 1; }

  static Device& device_open(ArrowDeviceType, int64_t id) {
    if (id != 0) {
      throw Error(ENODEV, format("there is no cpu:%lld, the CPU is one device", static_cast<long long>(id)));
    }
    return the_device;
  }

  static void device_get_info(Device&, arrowdevice_device_info& out) {
    copy_text(out.name, processor_name());
    out.total_memory = physical_memory(_SC_PHYS_PAGES);
    out.buffer_alignment = kAlignment;
    out.sub_buffer_alignment = 1;
    out.flags = ARROWDEVICE_DEVICE_ADDRESSES | ARROWDEVICE_DEVICE_HOST_READABLE | ARROWDEVICE_DEVICE_SHAREABLE;
  }

  static void device_get_memory_info(Device&, int64_t& free_bytes, int64_t& total_bytes) {
    free_bytes = available_memory();
    total_bytes = physical_memory(_SC_PHYS_PAGES);
  }

  static void* buffer_allocate(Device&, Queue*, int64_t size, int64_t alignment) {
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
    return block;
  }

  static void buffer_free(Device&, Queue*, void* buffer) noexcept { std::free(buffer); }

  static void* shareable_allocate(Device&, Queue*, int64_t size, int64_t) {
    return SharedMemory::instance().allocate(size);
  }

  static void shareable_free(Device&, Queue*, void* buffer) noexcept { SharedMemory::instance().free(buffer); }

  static void memory_export(Device&, const void* buffer, arrowdevice_memory_record& out) {
    SharedMemory::instance().describe(buffer, out);
  }

  static void* memory_import(Device&, const arrowdevice_memory_record& record, int64_t& size) {
    return SharedMemory::instance().open(record, SharedMemory::Access::kRead, size);
  }

  static void memory_close(Device&, void* buffer) noexcept { SharedMemory::instance().close(buffer); }

  static Queue* queue_create(Device&) noexcept { return &the_queue; }

  static void queue_destroy(Queue&) noexcept {}

  static void queue_copy(Queue&, std::span<const arrowdevice_backend_region> regions) {
    // For copies to unused memory, two threads are twice as fast above this size and no faster below it.
    constexpr int64_t kLeastBytesForThreads = int64_t{128} << 20;
    if (bytes_of(regions) >= kLeastBytesForThreads) return copy_by_threads(regions);
    for (const auto& region : regions) copy_on_host(region);
  }

  static void queue_wait_event(Queue&, Event&) noexcept {}

  static Event* event_record(Queue&) noexcept { return &the_event; }

  static bool event_query(Event&) noexcept { return true; }

  static void event_wait(Event&, int64_t) noexcept {}

  static void event_destroy(Event&) noexcept {}
};

constexpr ArrowDeviceType kDeviceTypes[] = {ARROW_DEVICE_CPU};

}  // namespace

const arrowdevice_backend& cpu_backend() noexcept {
  static const arrowdevice_backend table = BackendTable<Functions>::make("cpu", "built in", kDeviceTypes);
  return table;
}

}  // namespace arrowdevice
