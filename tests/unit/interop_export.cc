// SPDX-License-Identifier: Apache-2.0
// Tests exports of arrays as DLPack tensors.
#include <algorithm>
#include <limits>
#include <thread>

#include "interop_tensor.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr Knobs kWithoutNulls{.rows = 40, .nulls = Nulls::kNone};

// The CPU, and a device of each kind.
constexpr int64_t kPlaces[] = {-1, kAddresses[0], kHandles[0]};
arrowdevice_device* place(int64_t id) { return id < 0 ? cpu() : sim(id); }

// Returns the elements of a tensor on any device.
template <typename Value>
std::vector<Value> values_of(const ManagedTensor& tensor, int64_t count) {
  std::vector<Value> values(static_cast<size_t>(count));
  const auto size = static_cast<size_t>(count) * sizeof(Value);
  const auto offset = tensor.tensor.byte_offset;
  if (tensor.tensor.device.type == ARROW_DEVICE_CPU) {
    std::memcpy(values.data(), static_cast<const char*>(tensor.tensor.data) + offset, size);
  } else {
    control::peek(tensor.tensor.device.id, tensor.tensor.data, static_cast<int64_t>(offset), values.data(),
                  static_cast<int64_t>(size));
  }
  return values;
}

// Returns the integers 0, 1, 2, ... The array shows some of them.
Data counting(int64_t slots, int64_t offset, int64_t length) {
  Data data = at(offset, data_of(length, {no_buffer(), {}}));
  auto& bytes = data.buffers[1].bytes;
  bytes.resize(static_cast<size_t>(slots) * sizeof(int32_t));
  for (int32_t i = 0; i < slots; ++i) std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof i, &i, sizeof i);
  return data;
}

// Returns a bitmap of `bits` bits. All bits are set except those in `unset`.
Buffer bitmap(int64_t bits, std::initializer_list<int64_t> unset) {
  Buffer made;
  made.bytes.assign(static_cast<size_t>(bits + 7) / 8, 0xFF);
  for (const int64_t bit : unset) {
    auto& byte = made.bytes[static_cast<size_t>(bit / 8)];
    byte = static_cast<unsigned char>(byte & ~(1 << bit % 8));
  }
  return made;
}

std::string refusal(ArrowDeviceArray& array, const ArrowSchema& schema, int code = ENOTSUP) {
  auto* out = reinterpret_cast<DLManagedTensorVersioned*>(&array);  // the call must set it to NULL
  const std::string why = must_fail(code, arrowdevice_dlpack_export, &array, &schema, nullptr, &out);
  CHECK(out == nullptr);
  return why;
}

TEST_CASE("numbers are tensors with the dtypes of DLPack") {
  struct Type {
    const char* format;
    uint8_t code, bits;
  };
  constexpr uint8_t kInt = 0, kUInt = 1, kFloat = 2;  // DLPack's type codes
  for (const Type& type : {Type{"c", kInt, 8}, Type{"s", kInt, 16}, Type{"i", kInt, 32}, Type{"l", kInt, 64},
                           Type{"C", kUInt, 8}, Type{"S", kUInt, 16}, Type{"I", kUInt, 32}, Type{"L", kUInt, 64},
                           Type{"e", kFloat, 16}, Type{"f", kFloat, 32}, Type{"g", kFloat, 64}}) {
    INFO(type.format);
    Sample sample(field(type.format), kWithoutNulls);
    const void* const data = sample.host->array.buffers[1];
    const Exported tensor = exported(*sample.host, *sample.schema);
    CHECK(tensor->version.major == 1);
    CHECK(tensor->version.minor == 0);
    CHECK(tensor->flags == 1);  // read-only, and not a copy
    CHECK(tensor->tensor.dtype.code == type.code);
    CHECK(tensor->tensor.dtype.bits == type.bits);
    CHECK(tensor->tensor.dtype.lanes == 1);
    CHECK(tensor->tensor.device.type == 1);
    CHECK(tensor->tensor.device.id == 0);
    CHECK(shape_of(*tensor) == Extents{40});
    CHECK(strides_of(*tensor) == Extents{1});
    CHECK(tensor->tensor.data == data);
    CHECK(tensor->tensor.byte_offset == 0);
  }
}

TEST_CASE("a tensor of a slice has the array's buffer and the slice's position") {
  begin();
  const auto schema = make_schema(field("i"));
  for (const int64_t id : kPlaces) {
    INFO("device " << id);
    Ledger ledger;
    const Array host = from_host(make_array(counting(20, 2, 15), ledger));
    Array there = copy(*host, *schema, place(id), ARROWDEVICE_COPY_NO_TRIM);
    Array part = slice(*there, *schema, 3, 4);
    const void* const buffer = part->array.buffers[1];
    const Exported tensor = exported(*part, *schema);
    CHECK(tensor->tensor.data == buffer);
    CHECK(tensor->tensor.byte_offset == static_cast<uint64_t>(part->array.offset) * 4);
    CHECK(tensor->tensor.byte_offset > 0);
    CHECK(tensor->tensor.device.type == (id < 0 ? 1 : 12));
    CHECK(tensor->tensor.device.id == std::max<int64_t>(id, 0));
    CHECK(shape_of(*tensor) == Extents{4});
    CHECK(values_of<int32_t>(*tensor, 4) == std::vector<int32_t>{5, 6, 7, 8});
  }
  CHECK(control::refused() == 0);
}

TEST_CASE("nested fixed-size lists are tensors of higher rank, whatever child offsets") {
  begin();
  const auto schema = make_schema(fixed_size_list_of(2, fixed_size_list_of(3, field("i"))));
  // Takes rows 1 and 2. Their lists begin at slot 1 + 1 * 2, and their numbers at 4 + 3 * 3.
  Data pairs = at(1, data_of(6, {no_buffer()}, {counting(40, 4, 30)}));
  const Array host = from_host(make_array(at(1, data_of(2, {no_buffer()}, {std::move(pairs)})), Ledger()));
  for (const int64_t id : kPlaces) {
    INFO("device " << id);
    Array there = copy(*host, *schema, place(id), ARROWDEVICE_COPY_NO_TRIM);
    const Exported tensor = exported(*there, *schema);
    CHECK(shape_of(*tensor) == Extents{2, 2, 3});
    CHECK(strides_of(*tensor) == Extents{6, 3, 1});
    std::vector<int32_t> expected;
    for (int32_t i = 13; i < 25; ++i) expected.push_back(i);
    CHECK(values_of<int32_t>(*tensor, 12) == expected);
    Array part = slice(*there, *schema, 1, 1);
    const Exported second = exported(*part, *schema);
    CHECK(shape_of(*second) == Extents{1, 2, 3});
    CHECK(values_of<int32_t>(*second, 1) == std::vector<int32_t>{19});
  }
}

TEST_CASE("an array without elements is a tensor without data") {
  Array empty = from_host(make_array(at(3, data_of(0, {no_buffer(), no_buffer()})), Ledger()));
  const Exported none = exported(*empty, *make_schema(field("l")));
  CHECK(shape_of(*none) == Extents{0});
  CHECK(none->tensor.strides != nullptr);
  CHECK(none->tensor.data == nullptr);
  CHECK(none->tensor.byte_offset == 0);

  Array of_nothing = from_host(make_array(data_of(4, {no_buffer()}, {counting(5, 0, 5)}), Ledger()));
  const Exported flat = exported(*of_nothing, *make_schema(fixed_size_list_of(0, field("i"))));
  CHECK(shape_of(*flat) == Extents{4, 0});
  CHECK(strides_of(*flat).size() == 2);
  CHECK(flat->tensor.data == nullptr);
}

TEST_CASE("no rows of lists of any size are a tensor, whose strides do not overflow") {
  constexpr int64_t kLong = int64_t{1} << 40;
  const auto schema = make_schema(fixed_size_list_of(kLong, fixed_size_list_of(kLong, field("i"))));
  Data lists = data_of(0, {no_buffer()}, {counting(0, 0, 0)});
  Array empty = from_host(make_array(data_of(0, {no_buffer()}, {std::move(lists)}), Ledger()));
  const Exported none = exported(*empty, *schema);
  CHECK(shape_of(*none) == Extents{0, kLong, kLong});
  CHECK(strides_of(*none) == Extents{1, 1, 1});
  CHECK(none->tensor.data == nullptr);
}

TEST_CASE("a bitmap without nulls does not prevent an export") {
  begin();
  const auto schema = make_schema(field("i"));
  for (const int64_t id : kPlaces) {
    for (const int64_t null_count : {int64_t{0}, int64_t{-1}}) {
      INFO("device " << id << ", null_count " << null_count);
      // The nulls lie outside the rows.
      Data data = with_nulls(null_count, counting(20, 3, 10));
      data.buffers[0] = bitmap(20, {2, 13});
      const Array host = from_host(make_array(std::move(data), Ledger()));
      Array there = copy(*host, *schema, place(id), ARROWDEVICE_COPY_NO_TRIM);
      there->array.null_count = null_count;
      const Exported tensor = exported(*there, *schema);
      CHECK(values_of<int32_t>(*tensor, 1) == std::vector<int32_t>{3});
    }
  }
}

TEST_CASE("nulls in any position are refused, counted or not") {
  begin();
  const auto schema = make_schema(field("i"));
  for (const int64_t id : kPlaces) {
    for (const int64_t null_count : {int64_t{2}, int64_t{-1}}) {
      INFO("device " << id << ", null_count " << null_count);
      Data data = with_nulls(null_count, counting(20, 3, 10));
      data.buffers[0] = bitmap(20, {3, 12});
      const Array host = from_host(make_array(std::move(data), Ledger()));
      Array there = copy(*host, *schema, place(id), ARROWDEVICE_COPY_NO_TRIM);
      there->array.null_count = null_count;
      CHECK(refusal(*there, *schema) == "array: 2 slots are null, and tensors have no nulls");
      CHECK_FALSE(there.released());
    }
  }
}

TEST_CASE("visible nulls of children are refused") {
  begin();
  const auto schema = make_schema(fixed_size_list_of(2, field("i")));
  const auto lists = [](int64_t null_item) {
    Data items = with_nulls(1, counting(12, 2, 10));
    items.buffers[0] = bitmap(12, {null_item});
    return from_host(make_array(at(1, data_of(3, {no_buffer()}, {std::move(items)})), Ledger()));
  };
  // The rows show slots 4 to 9 of the buffer.
  for (const int64_t shown : {int64_t{4}, int64_t{9}}) {
    INFO("slot " << shown);
    Array array = lists(shown);
    CHECK(contains(refusal(*array, *schema), "array.item: 1 slot is null"));
    Array there = copy(*array, *schema, sim(0), ARROWDEVICE_COPY_NO_TRIM);
    CHECK(contains(refusal(*there, *schema), "array.item: 1 slot is null"));
  }
  for (const int64_t hidden : {int64_t{3}, int64_t{10}}) {
    INFO("slot " << hidden);
    Array array = lists(hidden);
    CHECK(values_of<int32_t>(*exported(*array, *schema), 6) == std::vector<int32_t>{4, 5, 6, 7, 8, 9});
  }
  Data nulls = with_nulls(1, data_of(3, {bitmap(3, {1})}, {counting(6, 0, 6)}));
  Array array = from_host(make_array(std::move(nulls), Ledger()));
  CHECK(contains(refusal(*array, *schema), "array: 1 slot is null"));
}

TEST_CASE("values that are not numbers are refused with the reason and the path") {
  struct Case {
    Field type;
    const char* reason;
  };
  const Field number = field("i", "item");
  for (const Case& one : {
           Case{field("b"), "array: booleans are bits in Arrow and bytes in DLPack"},
           Case{field("n"), "array: its layout is null"},
           Case{field("u"), "array: its layout is binary"},
           Case{field("vu"), "array: its layout is binary view"},
           Case{list_of(number), "array: its layout is list"},
           Case{run_end_encoded("i", number), "array: its layout is run-end encoded"},
           Case{struct_of({number}), "batch: a struct is not a tensor, but each of its columns may be one"},
           Case{dictionary_of("c", field("i")), "array: it is dictionary-encoded"},
           Case{field("d:10,2"), "array: DLPack has no dtype for \"d:10,2\""},
           Case{field("w:4"), "array: DLPack has no dtype for \"w:4\""},
           Case{field("tin"), "array: DLPack has no dtype for \"tin\""},
           Case{field("tiD"), "array: DLPack has no dtype for \"tiD\""},
           Case{field("tsu:UTC"), "for \"tsu:UTC\", though for its numbers alone: give a schema of \"l\""},
           Case{field("tdD"), "for \"tdD\", though for its numbers alone: give a schema of \"i\""},
           Case{fixed_size_list_of(2, fixed_size_list_of(2, field("b", "flag")).named("pair")),
                "array.pair.flag: booleans are bits"},
       }) {
    INFO(one.reason);
    Sample sample(one.type, kWithoutNulls);
    CHECK(contains(refusal(*sample.host, *sample.schema), one.reason));
    CHECK(difference(sample, *sample.host) == "");
  }
}

TEST_CASE("numbers with a unit are tensors under a schema of plain numbers") {
  Sample sample(field("tsu:UTC"), kWithoutNulls);
  const Exported tensor = exported(*sample.host, *make_schema(field("l")));
  CHECK(tensor->tensor.data == sample.host->array.buffers[1]);
}

TEST_CASE("device types and ids are those of DLPack") {
  struct Case {
    int32_t type;
    int64_t id;
    int32_t expected_id;
  };
  // Pinned, managed and plain host memory are device 0 in DLPack.
  for (const Case& one : {Case{1, -1, 0}, Case{1, 0, 0}, Case{2, 5, 5}, Case{3, -1, 0}, Case{3, 2, 0}, Case{4, 1, 1},
                          Case{7, 1, 1}, Case{8, 1, 1}, Case{9, 1, 1}, Case{10, 3, 3}, Case{11, 3, 0}, Case{12, 77, 77},
                          Case{13, 1, 0}, Case{14, 1, 1}, Case{15, 1, 1}, Case{16, 1, 1}}) {
    INFO("type " << one.type << ", id " << one.id);
    Array array = from_host(make_array(counting(4, 0, 4), Ledger()));
    array->device_type = one.type;  // the export does not read the memory and does not call a backend
    array->device_id = one.id;
    const Exported tensor = exported(*array, *make_schema(field("i")));
    CHECK(tensor->tensor.device.type == one.type);
    CHECK(tensor->tensor.device.id == one.expected_id);
    array->device_type = ARROW_DEVICE_CPU;
    CHECK(array->array.length == 4);
  }
  Array array = from_host(make_array(counting(4, 0, 4), Ledger()));
  for (const int32_t unknown : {5, 6, 17, 18}) {
    array->device_type = unknown;
    CHECK(contains(refusal(*array, *make_schema(field("i"))), "device type " + std::to_string(unknown)));
  }
  array->device_type = ARROW_DEVICE_CUDA;
  array->device_id = int64_t{std::numeric_limits<int32_t>::max()} + 1;
  CHECK(contains(refusal(*array, *make_schema(field("i"))), "device_id 2147483648"));
  array->device_id = -1;
  CHECK(contains(refusal(*array, *make_schema(field("i")), EINVAL), "it is on "));
  array->device_type = ARROW_DEVICE_CPU;
}

TEST_CASE("the memory lives until both array and tensor are released") {
  const auto schema = make_schema(field("i"));
  Ledger ledger;
  {
    Array array = from_host(make_array(counting(4, 0, 4), ledger));
    Exported tensor = exported(*array, *schema);
    array.reset();
    CHECK(ledger.live() == 1);
    CHECK(values_of<int32_t>(*tensor, 4) == std::vector<int32_t>{0, 1, 2, 3});
    tensor.reset();
    CHECK(ledger.live() == 0);
  }
  {
    Array array = from_host(make_array(counting(4, 0, 4), ledger));
    Exported tensor = exported(*array, *schema);
    Exported another = exported(*array, *schema);
    tensor.reset();
    another.reset();
    CHECK(ledger.live() == 1);
    CHECK(static_cast<const int32_t*>(array->array.buffers[1])[3] == 3);
    array.reset();
    CHECK(ledger.live() == 0);
  }
  {
    Array array = from_host(make_array(counting(4, 0, 4), ledger));
    Exported tensor = exported(*array, *schema);
    array.reset();
    std::thread([&] { tensor.reset(); }).join();
    CHECK(ledger.live() == 0);
  }
  CHECK(Ledger::mistakes() == 0);
}

TEST_CASE("a tensor survives a second call of its deleter") {
  constexpr int kTensors = 100;  // more than the library remembers
  const auto schema = make_schema(field("i"));
  Ledger ledger;
  for (int i = 0; i < kTensors; ++i) {
    Array array = from_host(make_array(counting(4, 0, 4), ledger));
    auto* out = output_of(arrowdevice_dlpack_export, array.get(), schema.get(), nullptr);
    const auto deleter = from_c(out)->deleter;
    deleter(out);
    CHECK(ledger.live() == 1);
    CHECK(from_c(out)->deleter != nullptr);
    from_c(out)->deleter(out);
    deleter(out);
    CHECK(ledger.live() == 1);  // the array keeps its own reference
    array.reset();
    CHECK(ledger.live() == 0);
  }
  CHECK(Ledger::mistakes() == 0);
}

TEST_CASE("the tensor's deleter returns device memory to its pool") {
  begin();
  Sample sample(field("i"), kWithoutNulls);
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    Array there = copy(sample, sim(id));
    Exported tensor = exported(*there, *sample.schema);
    there.reset();
    CHECK(stats(default_pool(sim(id))).used_bytes > 0);
    std::thread([&] { tensor.reset(); }).join();
    CHECK(stats(default_pool(sim(id))).used_bytes == 0);
  }
}

TEST_CASE("without a consumer queue an export waits for the producer's event") {
  begin();
  Sample sample(field("i"), kWithoutNulls);
  Array there = copy(sample, sim(0));
  control::UserEvent event;
  there->sync_event = event.sync_event();
  control::reset(configuration());
  std::atomic<bool> returned = false;
  std::atomic<bool> fired = false;
  std::thread producer([&] {
    while (control::calls("event_wait") == 0 && !returned) std::this_thread::yield();
    fired = true;
    event.set();
  });
  const Exported tensor = exported(*there, *sample.schema);
  const bool was_ready = fired;
  returned = true;
  producer.join();
  CHECK(was_ready);
  there->sync_event = nullptr;
}

TEST_CASE("an export with a consumer queue returns at once and orders later work") {
  begin();
  Sample sample(field("i"), kWithoutNulls);
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    Array there = copy(sample, sim(id));
    control::UserEvent event;
    there->sync_event = event.sync_event();
    const Queue queue = make_queue(sim(id));
    const Exported tensor = exported(*there, *sample.schema, queue.get());
    int32_t first = -1;
    arrowdevice_copy_region region{};
    region.src_device = sim(id);
    region.src = tensor->tensor.data;
    region.dst = &first;
    region.size = sizeof first;
    must(arrowdevice_queue_copy, queue.get(), &region, 1);
    must_fail(ETIMEDOUT, arrowdevice_queue_finish, queue.get(), ARROWDEVICE_POLL);
    event.set();
    must(arrowdevice_queue_finish, queue.get(), ARROWDEVICE_NO_TIMEOUT);
    CHECK(first == static_cast<const int32_t*>(sample.twin->buffers[1])[sample.twin->offset]);
    there->sync_event = nullptr;
  }
}

TEST_CASE("an export fails if the producer's event failed") {
  begin();
  Sample sample(field("i"), kWithoutNulls);
  Array there = copy(sample, sim(0));
  control::UserEvent event;
  there->sync_event = event.sync_event();
  event.fail();
  CHECK(contains(refusal(*there, *sample.schema, EIO), "failed"));
  there->sync_event = nullptr;
  CHECK(difference(sample, *there) == "");
}

TEST_CASE("uncounted nulls on a device are counted behind the producer's event") {
  begin();
  const auto schema = make_schema(field("i"));
  Data data = with_nulls(-1, counting(8, 0, 8));
  data.buffers[0] = bitmap(8, {});
  const Array host = from_host(make_array(std::move(data), Ledger()));
  Array there = copy(*host, *schema, sim(0));
  there->array.null_count = -1;
  control::UserEvent event;
  there->sync_event = event.sync_event();
  auto* const bits = const_cast<void*>(there->array.buffers[0]);
  const unsigned char unwritten = 0, written = 0xFF;
  control::poke(0, bits, 0, &unwritten, 1);
  control::reset(configuration());
  std::atomic<bool> returned = false;
  std::thread producer([&] {
    while (control::calls("event_wait") == 0 && !returned) std::this_thread::yield();
    control::poke(0, bits, 0, &written, 1);
    event.set();
  });
  const Queue queue = make_queue(sim(0));
  DLManagedTensorVersioned* made = nullptr;
  const int code = arrowdevice_dlpack_export(there.get(), schema.get(), queue.get(), &made, nullptr);
  returned = true;
  producer.join();
  there->sync_event = nullptr;
  REQUIRE(code == 0);  // zeros, if read too early, are nulls
  EndTensor()(from_c(made));
}

TEST_CASE("an export names missing and invalid arguments") {
  Sample sample(field("i"), kWithoutNulls);
  DLManagedTensorVersioned* out = nullptr;
  must_fail_saying(EINVAL, "inout", arrowdevice_dlpack_export, nullptr, sample.schema.get(), nullptr, &out);
  must_fail_saying(EINVAL, "schema", arrowdevice_dlpack_export, sample.host.get(), nullptr, nullptr, &out);
  must_fail_saying(EINVAL, "out", arrowdevice_dlpack_export, sample.host.get(), sample.schema.get(), nullptr, nullptr);
  CHECK(contains(refusal(*sample.host, *make_schema(fixed_size_list_of(2, field("i"))), EINVAL), "array: "));
  Array released;
  CHECK(contains(refusal(*released, *sample.schema, EINVAL), "released"));
  CHECK(difference(sample, *sample.host) == "");
}

}  // namespace
