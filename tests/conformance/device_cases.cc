// SPDX-License-Identifier: Apache-2.0
// Tests devices: their descriptions and how they are found.
#include <cerrno>
#include <limits>

#include "conformance/subject.h"

namespace arrowdevice::conformance {

namespace {

void describes_itself(Subject& subject) {
  const arrowdevice_device_info& info = subject.info();
  expect(info.name[0] != 0 && std::memchr(info.name, 0, sizeof info.name) != nullptr, "it has no name");
  expect(info.backend[0] != 0, "it does not say which backend drives it");
  expect(info.device_id >= 0 || subject.is_cpu(), "its id is negative");
  expect(info.total_memory == -1 || info.total_memory > 0, "its memory is neither unknown nor more than 0");
  for (const int64_t alignment : {info.buffer_alignment, info.sub_buffer_alignment}) {
    expect(alignment > 0 && (alignment & (alignment - 1)) == 0, "an alignment is no power of two");
  }
  expect((info.flags & ~uint64_t{255}) == 0, "it has flags that do not exist");
  expect((info.flags & ARROWDEVICE_DEVICE_WRAPPED) == 0, "it says that it was wrapped");
  expect((info.flags & ARROWDEVICE_DEVICE_HOST_READABLE) == 0 || (info.flags & ARROWDEVICE_DEVICE_ADDRESSES) != 0,
         "the CPU reads handles");
  expect(info.numa_node >= -1, "its NUMA node is neither a node nor unknown");
}

void fills_what_the_caller_knows(Subject& subject) {
  struct Larger {
    arrowdevice_device_info info;
    unsigned char more[32];
  } larger;
  std::memset(&larger, 0xEE, sizeof larger);
  larger.info.struct_size = sizeof larger;
  must(arrowdevice_device_get_info, subject.device(), &larger.info);
  expect(larger.info.struct_size == sizeof larger, "struct_size was changed");
  for (const unsigned char byte : larger.more) expect(byte == 0, "what the library does not know is not zeroed");

  arrowdevice_device_info info{};
  info.struct_size = 8;
  must_fail(EINVAL, arrowdevice_device_get_info, subject.device(), &info);
  Counters counters{};
  counters.struct_size = 4;
  must_fail(EINVAL, arrowdevice_device_get_counters, subject.device(), &counters);
}

void is_found_by_id_and_name(Subject& subject) {
  const arrowdevice_device_info& info = subject.info();
  auto* found = output_of(arrowdevice_device_find_by_id, info.device_type, info.device_id);
  expect(found == subject.device(), "its type and id find another device");

  const char* type = arrowdevice_device_type_get_name(info.device_type);
  expect(type != nullptr, "its type has no name");
  const std::string name = std::string(type) + ":" + std::to_string(subject.is_cpu() ? 0 : info.device_id);
  must(arrowdevice_device_find_by_name, name.c_str(), &found);
  expect(found == subject.device(), "its name finds another device");

  int64_t count = output_of(arrowdevice_device_count, info.device_type);
  expect(count > info.device_id, "its id is beyond the number of devices");
  found = subject.device();
  must_fail(ENODEV, arrowdevice_device_find_by_id, info.device_type, count, &found);
  expect(found == nullptr, "a device that is not there was given");
  must_fail(ENODEV, arrowdevice_device_find_by_id, info.device_type, std::numeric_limits<int64_t>::max(), &found);
}

void is_in_the_list(Subject& subject) {
  int64_t count = output_of(arrowdevice_device_list, nullptr, 0);
  std::vector<arrowdevice_device*> listed(static_cast<size_t>(count));
  int64_t again = output_of(arrowdevice_device_list, listed.data(), count);
  expect(again == count, "the number of devices changed");
  int times = 0;
  arrowdevice_device_info before{};
  for (arrowdevice_device* device : listed) {
    times += device == subject.device();
    const arrowdevice_device_info info = describe(device);
    expect(before.struct_size == 0 || before.device_type < info.device_type ||
               (before.device_type == info.device_type && before.device_id < info.device_id),
           "the list is not ordered by type and id");
    before = info;
  }
  expect(times == 1, "it is in the list " + std::to_string(times) + " times");

  arrowdevice_device* first = nullptr;
  must(arrowdevice_device_list, &first, 1, &again);
  expect(again == count && first == listed[0], "a list that is cut short differs");
}

void tells_its_memory(Subject& subject) {
  int64_t free_bytes = -2;
  int64_t total = -2;
  must(arrowdevice_device_get_memory_info, subject.device(), &free_bytes, &total);
  expect(free_bytes >= -1 && total >= -1, "a negative amount of memory");
  expect(free_bytes == -1 || total == -1 || free_bytes <= total, "more memory is free than there is");
  must(arrowdevice_device_get_memory_info, subject.device(), nullptr, nullptr);
}

void reaches_itself(Subject& subject) {
  uint32_t reach = output_of(arrowdevice_device_get_peer_flags, subject.device(), subject.device());
  expect(reach == (ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY), "it does not reach its own memory");
  must(arrowdevice_device_get_peer_flags, subject.device(), subject.cpu(), &reach);
  const bool readable = (subject.info().flags & ARROWDEVICE_DEVICE_HOST_READABLE) != 0;
  expect(((reach & ARROWDEVICE_PEER_ACCESS) != 0) == readable,
         "its flags and its reach disagree about whether the CPU reads its memory");
}

void counts_what_it_does(Subject& subject) {
  const Counters before = subject.counters();
  Sample sample(testing::find_case("record batch"));
  auto there = subject.to_device(*sample.host, *sample.schema);
  auto back = subject.to_cpu(*there, *sample.schema);
  const Counters after = subject.counters();
  expect(after.submissions > before.submissions, "no submission was counted");
  expect(after.regions - before.regions >= after.submissions - before.submissions, "fewer regions than submissions");
  expect(after.bytes_in > before.bytes_in, "no bytes in were counted");
  expect(after.bytes_out > before.bytes_out, "no bytes out were counted");
  expect(after.driver_allocations >= before.driver_allocations && after.events >= before.events &&
             after.host_waits >= before.host_waits && after.readbacks >= before.readbacks &&
             after.staged_bytes >= before.staged_bytes,
         "a counter went back");
}

}  // namespace

std::span<const Case> device_cases() {
  static constexpr Case kCases[] = {
      {"a device describes itself", kNeedsNothing, describes_itself},
      {"info structs are filled up to the caller's struct_size", kNeedsNothing, fills_what_the_caller_knows},
      {"a device is found by id and by name, and an id beyond the last is refused", kNeedsNothing,
       is_found_by_id_and_name},
      {"a device is in the list of devices once", kNeedsNothing, is_in_the_list},
      {"a device reports its memory", kNeedsNothing, tells_its_memory},
      {"a device has access to its memory, and the CPU has if the flags say so", kNeedsNothing, reaches_itself},
      {"a device counts the calls of its driver", kNeedsDiscrete, counts_what_it_does},
  };
  return kCases;
}

}  // namespace arrowdevice::conformance
