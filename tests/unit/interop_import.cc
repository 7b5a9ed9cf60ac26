// SPDX-License-Identifier: Apache-2.0
// Tests imports of DLPack tensors as arrays.
#include <limits>
#include <thread>

#include "interop_tensor.h"
#include "support/canon.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with

constexpr int32_t kNumbers[24] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};

// Fails unless the import fails with that code and leaves the tensor unchanged. Returns the message.
std::string refusal(Foreign& tensor, int code = ENOTSUP, arrowdevice_queue* written_on = nullptr) {
  const ManagedTensor before = tensor.managed;
  ArrowDeviceArray out{};
  ArrowSchema out_schema{};
  out.array.release = [](ArrowArray*) {};  // the call must set it to NULL
  out_schema.release = [](ArrowSchema*) {};
  const std::string why = must_fail(code, arrowdevice_dlpack_import, tensor.get(), written_on, &out, &out_schema);
  CHECK(out.array.release == nullptr);
  CHECK(out_schema.release == nullptr);
  CHECK(std::memcmp(&before, &tensor.managed, sizeof before) == 0);
  CHECK(tensor.deleted == 0);
  return why;
}

TEST_CASE("dtypes of DLPack become the matching types of Arrow") {
  struct Type {
    uint8_t code, bits;
    const char* format;
  };
  for (const Type& type :
       {Type{0, 8, "c"}, Type{0, 16, "s"}, Type{0, 32, "i"}, Type{0, 64, "l"}, Type{1, 8, "C"}, Type{1, 16, "S"},
        Type{1, 32, "I"}, Type{1, 64, "L"}, Type{2, 16, "e"}, Type{2, 32, "f"}, Type{2, 64, "g"}}) {
    INFO(type.format);
    Foreign tensor({3}, kNumbers);
    tensor.managed.tensor.dtype = {.code = type.code, .bits = type.bits, .lanes = 1};
    {
      const Imported in = imported(tensor.get());
      CHECK(std::string(in.schema->format) == type.format);
      CHECK(in.schema->flags == ARROW_FLAG_NULLABLE);
      CHECK(in.schema->n_children == 0);
      CHECK(in.array->array.length == 3);
      CHECK(in.array->array.offset == 0);
      CHECK(in.array->array.null_count == 0);
      CHECK(in.array->array.buffers[0] == nullptr);
      CHECK(in.array->array.buffers[1] == kNumbers);
      CHECK(in.array->device_id == -1);
      CHECK(in.array->sync_event == nullptr);
      CHECK(canon_problem(*in.array, *in.schema, describe(cpu()), {.copied = false}) == "");
      CHECK(tensor.deleted == 0);
    }
    CHECK(tensor.deleted == 1);
  }
}

TEST_CASE("tensors of higher rank are nested fixed-size lists") {
  Foreign tensor({2, 3, 4}, kNumbers);
  tensor.set_strides({12, 4, 1});
  const Imported in = imported(tensor.get());
  const auto expected = make_schema(fixed_size_list_of(3, fixed_size_list_of(4, field("i", "item")).named("item")));
  const auto* level = in.schema.get();
  const auto* wanted = expected.get();
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(std::string(level->format) == wanted->format);
    CHECK(std::string(level->name) == (rank == 0 ? "" : "item"));
    CHECK(level->flags == wanted->flags);
    REQUIRE(level->n_children == wanted->n_children);
    if (rank < 2) {
      level = level->children[0];
      wanted = wanted->children[0];
    }
  }
  CHECK(canon_problem(*in.array, *in.schema, describe(cpu()), {.copied = false}) == "");
  CHECK(problem(*in.schema, in.array->array) == "");
  const auto& middle = *in.array->array.children[0];
  const auto& leaf = *middle.children[0];
  CHECK(in.array->array.length == 2);
  CHECK(middle.length == 6);
  CHECK(leaf.length == 24);
  CHECK(leaf.buffers[1] == kNumbers);
}

TEST_CASE("a tensor of rank 0 is an array of one row") {
  Foreign tensor({}, kNumbers + 5);
  tensor.managed.tensor.shape = nullptr;
  const Imported in = imported(tensor.get());
  CHECK(std::string(in.schema->format) == "i");
  CHECK(in.array->array.length == 1);
  CHECK(static_cast<const int32_t*>(in.array->array.buffers[1])[0] == 5);
}

TEST_CASE("a tensor has at most as many dimensions as arrays have levels") {
  Foreign deep(Extents(64, 1), kNumbers);
  const Imported in = imported(deep.get());
  CHECK(problem(*in.schema, in.array->array) == "");
  Foreign too_deep(Extents(65, 1), kNumbers);
  CHECK(contains(refusal(too_deep), "it has 65 dimensions"));
}

TEST_CASE("every child of an imported array holds a reference to the tensor") {
  Foreign tensor({2, 3}, kNumbers);
  Imported in = imported(tensor.get());
  Owned<ArrowArray> child(*in.array->array.children[0]);
  in.array->array.children[0]->release = nullptr;
  in.array.reset();
  in.schema.reset();
  CHECK(tensor.deleted == 0);
  CHECK(static_cast<const int32_t*>(child->buffers[1])[5] == 5);
  std::thread([&] { child.reset(); }).join();
  CHECK(tensor.deleted == 1);
}

TEST_CASE("a tensor without a deleter is accepted") {
  Foreign tensor({4}, kNumbers);
  tensor.managed.deleter = nullptr;
  Imported in = imported(tensor.get());
  in.array.reset();
  CHECK(tensor.deleted == 0);
}

TEST_CASE("device types and ids are those of Arrow") {
  for (const int32_t type : {2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}) {
    INFO("type " << type);
    Foreign tensor({4}, kNumbers);
    tensor.set_device(type, 1);  // no backend is called, because most of these types have none
    const Imported in = imported(tensor.get());
    CHECK(in.array->device_type == type);
    CHECK(in.array->device_id == 1);
    CHECK(in.array->reserved[0] == 0);
  }
  Foreign unknown({4}, kNumbers);
  for (const int32_t type : {0, 5, 6, 17, 18}) {
    unknown.set_device(type, 0);
    CHECK(contains(refusal(unknown), "device type " + std::to_string(type)));
  }
  unknown.set_device(ARROW_DEVICE_CUDA, -1);
  CHECK(contains(refusal(unknown, EINVAL), "cuda:-1"));
}

TEST_CASE("a byte offset is added to addresses, and the offset of an array over handles") {
  begin();
  Sample sample(field("i"), {.rows = 24, .nulls = Nulls::kNone});
  for (const int64_t id : {int64_t{-1}, kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    const Array there = copy(sample, id < 0 ? cpu() : sim(id));
    auto* const buffer = static_cast<const char*>(there->array.buffers[1]);
    Foreign tensor({2, 3}, buffer);
    if (id >= 0) tensor.set_device(ARROW_DEVICE_EXT_DEV, static_cast<int32_t>(id));
    tensor.managed.tensor.byte_offset = 20;
    const Imported in = imported(tensor.get());
    const auto& leaf = *in.array->array.children[0];
    const bool is_handle = id == kHandles[0];
    CHECK(leaf.buffers[1] == (is_handle ? buffer : buffer + 20));
    CHECK(leaf.offset == (is_handle ? 5 : 0));
    CHECK(leaf.length == 6);
    const Array back = copy(*in.array, *in.schema, cpu());
    CHECK(
        std::memcmp(static_cast<const int32_t*>(back->array.children[0]->buffers[1]) + back->array.children[0]->offset,
                    static_cast<const int32_t*>(sample.twin->buffers[1]) + 5, 24) == 0);
  }
  CHECK(control::refused() == 0);
}

TEST_CASE("a byte offset inside of an element works for addresses only") {
  begin();
  Sample sample(field("i"), {.rows = 24, .nulls = Nulls::kNone});
  const Array addresses = copy(sample, sim(kAddresses[0]));
  Foreign tensor({3}, addresses->array.buffers[1]);
  tensor.set_device(ARROW_DEVICE_EXT_DEV, 0);
  tensor.managed.tensor.byte_offset = 6;
  CHECK(imported(tensor.get()).array->array.buffers[1] == static_cast<const char*>(addresses->array.buffers[1]) + 6);
  const Array handles = copy(sample, sim(kHandles[0]));
  Foreign other({3}, handles->array.buffers[1]);
  other.set_device(ARROW_DEVICE_EXT_DEV, static_cast<int32_t>(kHandles[0]));
  other.managed.tensor.byte_offset = 6;
  CHECK(contains(refusal(other), "byte_offset 6 is not a multiple of the 4 bytes of an element"));
}

TEST_CASE("the byte offset becomes an array's offset if the kind of buffers is unknown") {
  Foreign tensor({3}, kNumbers);
  tensor.set_device(ARROW_DEVICE_METAL, 0);
  tensor.managed.tensor.byte_offset = 8;
  const Imported in = imported(tensor.get());
  CHECK(in.array->array.buffers[1] == kNumbers);
  CHECK(in.array->array.offset == 2);
}

TEST_CASE("only compact row-major strides are accepted, others fail with the dimension") {
  const auto with_strides = [](Foreign& tensor, Extents strides) -> Foreign& {
    tensor.set_strides(std::move(strides));
    return tensor;
  };
  Foreign plain({2, 3, 4}, kNumbers);
  CHECK(contains(refusal(with_strides(plain, {12, 4, 2})),
                 "dimension 2 has stride 2, and in compact row-major order has 1"));
  CHECK(contains(refusal(with_strides(plain, {12, 5, 1})),
                 "dimension 1 has stride 5, and in compact row-major order has 4"));
  CHECK(contains(refusal(with_strides(plain, {0, 4, 1})),
                 "dimension 0 has stride 0, and in compact row-major order has 12"));
  CHECK(contains(refusal(with_strides(plain, {1, 2, 6})), "dimension 2 has stride 6"));
  Foreign backward({4}, kNumbers + 3);
  CHECK(contains(refusal(with_strides(backward, {-1})), "dimension 0 has stride -1"));
  Foreign ones({1, 3, 1}, kNumbers);
  CHECK(imported(with_strides(ones, {77, 1, -5}).get()).array->array.length == 1);
  Foreign empty({2, 0, 4}, nullptr);
  const Imported none = imported(with_strides(empty, {3, 99, 7}).get());
  CHECK(none.array->array.length == 2);
  CHECK(none.array->array.children[0]->length == 0);
  CHECK(none.array->array.children[0]->children[0]->buffers[1] == nullptr);
  CHECK(problem(*none.schema, none.array->array) == "");
}

TEST_CASE("a tensor of another major version is refused unread and left to the caller") {
  for (const uint32_t major : {0U, 2U, 77U}) {
    Foreign tensor({3}, kNumbers);
    tensor.managed.version = {.major = major, .minor = 3};
    // The library does not know the fields of this version.
    std::memset(&tensor.managed.tensor, 0xA5, sizeof tensor.managed.tensor);
    CHECK(contains(refusal(tensor), "it is of DLPack " + std::to_string(major) + ".3"));
    tensor.managed.deleter(tensor.get());
    CHECK(tensor.deleted == 1);
  }
}

TEST_CASE("tensors without a type in Arrow are refused with the reason") {
  struct Case {
    Dtype dtype;
    const char* reason;
  };
  for (const Case& one :
       {Case{{6, 8, 1}, "booleans are bytes in DLPack and bits in Arrow"},
        Case{{4, 16, 1}, "Arrow has no type for bfloat16"}, Case{{5, 64, 1}, "Arrow has no type for complex64"},
        Case{{2, 32, 4}, "its elements have 4 lanes"}, Case{{2, 32, 0}, "its elements have 0 lanes"},
        Case{{2, 128, 1}, "Arrow has no type for float128"}, Case{{0, 4, 1}, "Arrow has no type for int4"},
        Case{{1, 1, 1}, "Arrow has no type for uint1"}, Case{{3, 64, 1}, "elements of code 3 and 64 bits"},
        Case{{10, 8, 1}, "elements of code 10 and 8 bits"}}) {
    INFO(one.reason);
    Foreign tensor({3}, kNumbers);
    tensor.managed.tensor.dtype = one.dtype;
    CHECK(contains(refusal(tensor), one.reason));
  }
}

TEST_CASE("inconsistent tensors are refused with the member") {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  Foreign negative({3}, kNumbers);
  negative.managed.tensor.ndim = -1;
  CHECK(contains(refusal(negative, EINVAL), "ndim is -1"));
  Foreign shapeless({3}, kNumbers);
  shapeless.managed.tensor.shape = nullptr;
  CHECK(contains(refusal(shapeless, EINVAL), "shape is NULL"));
  Foreign below({3, -4}, kNumbers);
  CHECK(contains(refusal(below, EINVAL), "dimension 1 is -4"));
  Foreign long_lists({1, int64_t{1} << 31}, kNumbers);
  CHECK(contains(refusal(long_lists), "dimension 1 is 2147483648"));
  Foreign many({kMost / 2, 3}, kNumbers);
  CHECK(contains(refusal(many, EINVAL), "dimension 1 is 3: the number of elements overflows"));
  Foreign large({kMost / 2}, kNumbers);
  CHECK(contains(refusal(large, EINVAL), "overflow"));
  Foreign far({3}, kNumbers);
  for (const uint64_t offset : {std::numeric_limits<uint64_t>::max(), static_cast<uint64_t>(kMost)}) {
    far.managed.tensor.byte_offset = offset;
    CHECK(contains(refusal(far, EINVAL), "byte_offset " + std::to_string(offset)));
  }
  Foreign nowhere({3}, nullptr);
  CHECK(contains(refusal(nowhere, EINVAL), "data is NULL, and there are 3 elements"));
}

TEST_CASE("an import names its missing arguments") {
  Foreign tensor({3}, kNumbers);
  ArrowDeviceArray out{};
  ArrowSchema schema{};
  must_fail_saying(EINVAL, "moved", arrowdevice_dlpack_import, nullptr, nullptr, &out, &schema);
  must_fail_saying(EINVAL, "out", arrowdevice_dlpack_import, tensor.get(), nullptr, nullptr, &schema);
  CHECK(tensor.deleted == 0);
}

TEST_CASE("an import without a place for the type gives the same array") {
  Foreign tensor({3}, kNumbers);
  Array array;
  must(arrowdevice_dlpack_import, tensor.get(), nullptr, array.out(), nullptr);
  CHECK(array->array.length == 3);
  CHECK(array->array.buffers[1] == kNumbers);
  array.reset();
  CHECK(tensor.deleted == 1);
}

// Submits a copy that is pending while the device is held.
void queue_work(arrowdevice_queue* queue, int64_t id, const void* buffer) {
  static const int64_t bytes = 7;
  arrowdevice_copy_region region{};
  region.dst_device = sim(id);
  region.dst = const_cast<void*>(buffer);
  region.src = &bytes;
  region.size = sizeof bytes;
  must(arrowdevice_queue_copy, queue, &region, 1);
}

TEST_CASE("an array of a pending tensor has an event of its queue, and nothing waits") {
  begin();
  Sample sample(field("i"), {.rows = 24, .nulls = Nulls::kNone});
  for (const int64_t id : {kAddresses[0], kHandles[0]}) {
    INFO("device " << id);
    const Array there = copy(sample, sim(id));
    const void* const buffer = there->array.buffers[1];
    const Queue queue = make_queue(sim(id));
    Foreign tensor({4}, buffer);
    tensor.set_device(ARROW_DEVICE_EXT_DEV, static_cast<int32_t>(id));
    Held engine(id);
    queue_work(queue.get(), id, buffer);
    Imported in = imported(tensor.get(), queue.get());
    CHECK(in.array->sync_event != nullptr);
    CHECK(is_ready(*in.array) == 0);
    CHECK(canon_problem(*in.array, *in.schema, describe(sim(id)), {.copied = false}) == "");
    engine.resume();
    must(arrowdevice_array_wait, in.array.get(), nullptr, ARROWDEVICE_NO_TIMEOUT);
    const Array back = copy(*in.array, *in.schema, cpu());
    CHECK(static_cast<const int32_t*>(back->array.buffers[1])[0] == 7);
    in.array.reset();
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
    CHECK(tensor.deleted == 1);
  }
}

TEST_CASE("an early release keeps the tensor until its queue has finished") {
  begin();
  Sample sample(field("i"), {.rows = 24, .nulls = Nulls::kNone});
  const Array there = copy(sample, sim(0));
  const Queue queue = make_queue(sim(0));
  Foreign tensor({4}, there->array.buffers[1]);
  tensor.set_device(ARROW_DEVICE_EXT_DEV, 0);
  Held engine(0);
  queue_work(queue.get(), 0, there->array.buffers[1]);
  imported(tensor.get(), queue.get()).array.reset();
  must_fail(ETIMEDOUT, arrowdevice_wait_idle, ARROWDEVICE_POLL);
  CHECK(tensor.deleted == 0);
  engine.resume();
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(tensor.deleted == 1);
}

TEST_CASE("an import finishes the queue's work if arrays of the device have no events") {
  begin();
  Sample sample(field("i"), {.rows = 24, .nulls = Nulls::kNone});
  const Array there = copy(sample, sim(0));
  const Queue queue = make_queue(sim(0));
  Foreign tensor({4}, kNumbers);  // on the CPU
  control::reset(configuration());
  Held engine(0);
  queue_work(queue.get(), 0, there->array.buffers[1]);
  std::atomic<bool> returned = false;
  std::atomic<bool> resumed = false;
  std::thread device([&] {
    while (control::calls("event_wait") == 0 && !returned) std::this_thread::yield();
    resumed = true;
    engine.resume();
  });
  const Imported in = imported(tensor.get(), queue.get());
  const bool was_finished = resumed;
  returned = true;
  device.join();
  CHECK(was_finished);
  CHECK(in.array->sync_event == nullptr);
}

TEST_CASE("a tensor written on a queue requires its device") {
  begin();
  const Queue queue = make_queue(sim(0));
  Foreign tensor({4}, kNumbers);
  tensor.set_device(ARROW_DEVICE_EXT_DEV, 99);
  refusal(tensor, ENODEV, queue.get());
}

TEST_CASE("arrays become tensors and arrays again") {
  begin();
  for (const Field& type : {field("g"), fixed_size_list_of(3, field("e", "item")),
                            fixed_size_list_of(2, fixed_size_list_of(5, field("L", "item")).named("item"))}) {
    for (const int64_t id : {int64_t{-1}, kAddresses[0], kHandles[0]}) {
      INFO(type.format << " on device " << id);
      Sample sample(type, {.rows = 30, .nulls = Nulls::kNone, .offset = 3, .child_offset = 2});
      Array there = copy(*sample.host, *sample.schema, id < 0 ? cpu() : sim(id), ARROWDEVICE_COPY_NO_TRIM);
      Exported tensor = exported(*there, *sample.schema);
      there.reset();
      Imported in = imported(to_c(tensor.release()));
      CHECK(difference(sample, *in.array) == "");
    }
  }
  CHECK(control::refused() == 0);
  CHECK(Ledger::mistakes() == 0);
}

}  // namespace
