// SPDX-License-Identifier: Apache-2.0
// Device arrays that Arrow C++ exports and the library consumes, and arrays of the library that Arrow C++
// imports. The cases have the names of the cases in Arrow's own tests of its device interface.
#include <arrow/extension/bool8.h>
#include <arrow/extension/uuid.h>
#include <arrow/extension_type.h>
#include <arrow/util/key_value_metadata.h>

#include <vector>

#include "peer.h"

namespace {

using namespace arrow_cpp_test;  // NOLINT: what every line of these tests is written with
using arrow::field;

// Checks that the view has the buffers of Arrow C++.
void check_buffers(const arrowdevice_node* node, const arrow::ArrayData& data) {
  CHECK(node->length == data.length);
  CHECK(node->offset == data.offset);
  CHECK(node->null_count == data.null_count);
  std::vector<const void*> buffers;
  for (const auto& buffer : data.buffers)
    buffers.push_back(buffer == nullptr ? nullptr : reinterpret_cast<const void*>(buffer->address()));
  // Arrow C++ has a validity slot even for types without validity. It has no buffer for the sizes of views.
  const bool has_validity = node->n_buffers > 0 && node->buffers[0].role == ARROWDEVICE_ROLE_VALIDITY;
  const size_t skipped = !has_validity && !buffers.empty() ? 1 : 0;
  for (size_t i = skipped; i < buffers.size(); ++i) CHECK(node->buffers[i - skipped].data == buffers[i]);
  REQUIRE(node->n_children == static_cast<int64_t>(data.child_data.size()));
  for (int64_t i = 0; i < node->n_children; ++i)
    check_buffers(node->children[i], *data.child_data[static_cast<size_t>(i)]);
}

// Exports an array from Arrow C++, which then drops it. The library checks the view and copies the array
// back.
void check_export(const ArrayPtr& expected) {
  INFO(expected->type()->ToString() << " " << expected->ToString());
  begin();
  const int64_t live = live_buffers();
  {
    auto there = to_sim(expected);
    const auto data = there->data()->Copy();
    Foreign exported;
    Owned<ArrowSchema> schema;
    ok(arrow::ExportDeviceArray(*there, nullptr, exported.get(), schema.out()));
    there.reset();
    CHECK(exported->device_type == ARROW_DEVICE_EXT_DEV);
    CHECK(exported->device_id == 0);
    must(arrowdevice_array_validate, exported.get(), schema.get(), static_cast<arrowdevice_device*>(nullptr),
         ARROWDEVICE_VALIDATE_STRUCTURE);
    arrowdevice_view* imported = nullptr;
    must(arrowdevice_array_import, exported.get(), schema.get(),
         static_cast<const arrowdevice_import_options*>(nullptr), &imported);
    View view(imported);
    CHECK(arrowdevice_view_get_device(view.get()) == sim(0));
    check_buffers(arrowdevice_view_get_root(view.get()), *data);
    Array detached;
    arrowdevice_view_detach(view.release(), detached.out());
    CHECK(same(*expected, *read(*detached, expected->type())));
  }
  must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);
  CHECK(live_buffers() == live);
}

// Copies an array to a device with the library. Arrow C++ imports it there and exports it again.
void check_roundtrip(const ArrayPtr& expected) {
  INFO(expected->type()->ToString() << " " << expected->ToString());
  begin();
  Array host;
  Owned<ArrowSchema> schema;
  ok(arrow::ExportDeviceArray(*expected, nullptr, host.out(), schema.out()));
  Array there = copy(*host, *schema, sim(1));
  host.reset();
  auto imported = ok(arrow::ImportDeviceArray(there.get(), schema.get(), map_device));
  CHECK(there.released());
  CHECK(same(*expected, *to_cpu(imported)));

  Foreign again;
  const auto status = arrow::ExportDeviceArray(*imported, nullptr, again.get());
  if (expected->length() == 0) {
    // Arrow C++ has replaced NULL buffers by its own buffers on the CPU.
    CHECK(fails_with(status, arrow::StatusCode::Invalid, "more than one device"));
    return;
  }
  ok(status);
  imported.reset();
  CHECK(again->device_id == 1);
  CHECK(same(*expected, *read(*again, expected->type())));
  CHECK(control::refused() == 0);
}

void check_json(const TypePtr& type, const char* json) {
  const auto expected = from_json(type, json);
  check_export(expected);
  check_roundtrip(expected);
}

TEST_CASE("TestDeviceArrayExport.Primitive") {
  for (const auto& type : {arrow::int8(), arrow::int16(), arrow::int32(), arrow::int64()})
    check_json(type, "[1, 2, null, -3]");
  for (const auto& type : {arrow::uint8(), arrow::uint16(), arrow::uint32(), arrow::uint64()})
    check_json(type, "[1, 2, 3]");
  check_json(arrow::boolean(), "[true, false, null]");
  for (const auto& type : {arrow::float16(), arrow::float32(), arrow::float64()}) check_json(type, "[1.5, null]");
  for (const auto& type : {arrow::fixed_size_binary(3), arrow::binary(), arrow::large_binary(), arrow::utf8(),
                           arrow::large_utf8(), arrow::binary_view(), arrow::utf8_view()})
    check_json(type, R"(["foo", "bar", null])");
  check_json(arrow::utf8_view(), R"(["one that is too long for its view", "bar", null])");
  for (const auto& type :
       {arrow::decimal32(9, 4), arrow::decimal64(16, 4), arrow::decimal128(16, 4), arrow::decimal256(16, 4)})
    check_json(type, R"(["1234.5670", null])");
  check_json(arrow::month_day_nano_interval(), "[[-1, 5, 20], null]");
}

TEST_CASE("TestDeviceArrayExport.PrimitiveSliced") {
  check_export(from_json(arrow::int16(), "[1, 2, null, -3]")->Slice(1, 2));
  check_roundtrip(from_json(arrow::int16(), "[1, 2, null, -3]")->Slice(1, 2));
  check_export(from_json(arrow::boolean(), "[true, null, true, false, null]")->Slice(3, 2));
  check_export(from_json(arrow::utf8(), R"(["a", "bc", null, "def"])")->Slice(1, 3));
}

TEST_CASE("TestDeviceArrayExport.Temporal") {
  using arrow::TimeUnit;
  for (const auto& type :
       {arrow::date32(), arrow::date64(), arrow::time32(TimeUnit::SECOND), arrow::time32(TimeUnit::MILLI),
        arrow::time64(TimeUnit::MICRO), arrow::time64(TimeUnit::NANO), arrow::duration(TimeUnit::SECOND),
        arrow::duration(TimeUnit::MILLI), arrow::duration(TimeUnit::MICRO), arrow::duration(TimeUnit::NANO),
        arrow::month_interval()})
    check_json(type, type->id() == arrow::Type::DATE64 ? "[86400000, null]" : "[1, 2, null, 42]");
  check_json(arrow::day_time_interval(), "[[7, 600], null]");
  for (const auto unit : {TimeUnit::SECOND, TimeUnit::MILLI, TimeUnit::MICRO, TimeUnit::NANO}) {
    check_json(arrow::timestamp(unit), R"(["1970-01-01", "2000-02-29", "1900-02-28"])");
    check_json(arrow::timestamp(unit, "Europe/Paris"), R"(["1970-01-01", "2000-02-29", "1900-02-28"])");
  }
}

TEST_CASE("TestDeviceArrayExport.List") {
  for (const auto& type :
       {arrow::list(arrow::int8()), arrow::large_list(arrow::uint16()), arrow::fixed_size_list(arrow::int64(), 2)})
    check_json(type, "[[1, 2], [3, null], null]");
  check_json(arrow::list(arrow::large_list(arrow::int32())), "[[[1, 2], [3], null], null]");
}

TEST_CASE("TestDeviceArrayExport.ListSliced") {
  check_export(from_json(arrow::list(arrow::int8()), "[[1, 2], [3, null], [4, 5, 6], null]")->Slice(1, 2));
  const auto values = from_json(arrow::int16(), "[1, 2, 3, 4, null, 5, 6, 7, 8]")->Slice(1, 6);
  const auto offsets = from_json(arrow::int32(), "[0, 2, 3, 5, 6]")->Slice(2, 3);
  check_export(ok(arrow::ListArray::FromArrays(*offsets, *values)));
}

TEST_CASE("TestDeviceArrayExport.ListView") {
  for (const auto& type : {arrow::list_view(arrow::int8()), arrow::large_list_view(arrow::uint16())})
    check_json(type, "[[1, 2], [3, null], null]");
  check_json(arrow::list_view(arrow::large_list_view(arrow::int32())), "[[[1, 2], [3], null], null]");
}

TEST_CASE("TestDeviceArrayExport.ListViewSliced") {
  check_export(from_json(arrow::list_view(arrow::int8()), "[[1, 2], [3, null], [4, 5, 6], null]")->Slice(1, 2));
  const auto values = from_json(arrow::int16(), "[1, 2, 3, 4, null, 5, 6, 7, 8]")->Slice(1, 6);
  const auto offsets = from_json(arrow::int32(), "[5, 2, 0, 3]")->Slice(1, 2);
  const auto sizes = from_json(arrow::int32(), "[2, 3, 6, 1]")->Slice(1, 2);
  check_export(ok(arrow::ListViewArray::FromArrays(*offsets, *sizes, *values)));
}

TEST_CASE("TestDeviceArrayExport.Struct") {
  check_json(arrow::struct_({field("a", arrow::int8()), field("b", arrow::utf8())}),
             R"([[1, "foo"], [2, null], null])");
}

TEST_CASE("TestDeviceArrayExport.Map") {
  for (const bool sorted : {false, true})
    check_json(arrow::map(arrow::int8(), arrow::utf8(), sorted), R"([[[1, "foo"], [2, null]], [[3, "bar"]]])");
}

TEST_CASE("TestDeviceArrayExport.Union") {
  const char* json = "[null, [42, 1], [43, true], [42, null], [42, 2]]";
  check_json(arrow::dense_union({field("a", arrow::int8()), field("b", arrow::boolean(), false)}, {42, 43}), json);
  check_json(arrow::sparse_union({field("a", arrow::int8(), false), field("b", arrow::boolean())}, {42, 43}), json);
}

TEST_CASE("TestDeviceArrayExport.RunEndEncoded") {
  const auto ends = from_json(arrow::int32(), "[1, 2, 4, 5, 6]");
  const auto values = from_json(arrow::int32(), "[1, null, 2, 4, 5]");
  const ArrayPtr array = ok(arrow::RunEndEncodedArray::Make(6, ends, values));
  check_export(array);
  check_export(array->Slice(2, 3));
  check_roundtrip(array);
}

TEST_CASE("TestDeviceArrayExport.Dictionary") {
  const auto type = arrow::dictionary(arrow::int8(), arrow::utf8());
  const ArrayPtr array = ok(arrow::DictionaryArray::FromArrays(type, from_json(arrow::int8(), "[0, 1, null, 0]"),
                                                               from_json(arrow::utf8(), R"(["foo", "bar"])")));
  check_export(array);
  check_roundtrip(array);
}

TEST_CASE("TestDeviceArrayExport.Extension") {
  const ArrayPtr uuids = arrow::ExtensionType::WrapArray(
      arrow::extension::uuid(), from_json(arrow::fixed_size_binary(16), R"(["0123456789abcdef", null])"));
  const ArrayPtr flags =
      arrow::ExtensionType::WrapArray(arrow::extension::bool8(), from_json(arrow::int8(), "[1, null, 0]"));
  for (const auto& array : {uuids, flags}) {
    check_export(array);
    check_roundtrip(array);
  }
}

// Returns a batch with metadata, and with an event that is pending until the engine resumes.
BatchPtr example_batch() {
  const auto schema = arrow::schema({field("ints", arrow::int16()), field("bools", arrow::boolean(), false)},
                                    arrow::key_value_metadata({"a key", "another"}, {"its value", ""}));
  return arrow::RecordBatch::Make(
      schema, 3, {from_json(arrow::int16(), "[1, 2, null]"), from_json(arrow::boolean(), "[false, true, false]")});
}

TEST_CASE("TestDeviceArrayExport.ExportArrayAndType") {
  begin();
  const auto expected = from_json(arrow::int8(), "[1, 2, 3]");
  control::UserEvent event;
  Foreign exported;
  Owned<ArrowSchema> schema;
  {
    const auto there = to_sim(expected);
    const auto sync = ok(sim_memory()->WrapDeviceSyncEvent(event.sync_event(), [](void*) {}));
    ok(arrow::ExportDeviceArray(*there, sync, exported.get(), schema.out()));
  }
  CHECK(schema->format == std::string("c"));
  CHECK(exported->sync_event == event.sync_event());
  CHECK(is_ready(*exported) == 0);
  event.set();
  CHECK(is_ready(*exported) == 1);
  CHECK(same(*expected, *read(*exported, expected->type())));
}

TEST_CASE("TestDeviceArrayExport.ExportRecordBatch") {
  begin();
  const auto expected = example_batch();
  control::UserEvent event;
  Foreign exported;
  Owned<ArrowSchema> schema;
  {
    const auto there = to_sim(expected);
    const auto sync = ok(sim_memory()->WrapDeviceSyncEvent(event.sync_event(), [](void*) {}));
    ok(arrow::ExportDeviceRecordBatch(*there, sync, exported.get(), schema.out()));
  }
  arrowdevice_view* imported = nullptr;
  must(arrowdevice_array_import, exported.get(), schema.get(), static_cast<const arrowdevice_import_options*>(nullptr),
       &imported);
  const View view(imported);
  const auto* root = arrowdevice_view_get_root(view.get());
  CHECK(root->format == std::string("+s"));
  REQUIRE(root->n_children == 2);
  CHECK(root->children[1]->name == std::string("bools"));
  CHECK(root->children[1]->flags == 0);
  CHECK(ok(arrow::ImportSchema(schema.get()))->Equals(*expected->schema(), true));
  Array shared;
  must(arrowdevice_view_share, view.get(), shared.out());
  CHECK(is_ready(*shared) == 0);
  event.set();
  CHECK(same(*expected, *read(*shared, expected->schema())));
}

TEST_CASE("TestDeviceArrayRoundtrip.Primitive") { check_json(arrow::int32(), "[4, 5, null]"); }

TEST_CASE("TestDeviceArrayRoundtrip.Struct") {
  const auto type = arrow::struct_({field("ints", arrow::int16()), field("strs", arrow::utf8())});
  check_json(type, "[]");
  check_json(type, R"([[4, "foo"], [5, "bar"]])");
  check_json(type, R"([[4, null], null, [5, "foo"]])");
}

TEST_CASE("Arrow C++ keeps a pending batch of the library pending, there and back") {
  begin();
  const auto expected = ints_batches(1)[0];
  Array host;
  Owned<ArrowSchema> schema;
  ok(arrow::ExportDeviceRecordBatch(*expected, nullptr, host.out(), schema.out()));
  Held engine(0);
  Array there = copy(*host, *schema, sim(0), ARROWDEVICE_COPY_ASYNC);
  REQUIRE(there->sync_event != nullptr);
  auto imported = ok(arrow::ImportDeviceRecordBatch(there.get(), schema.get(), map_device));
  const auto sync = imported->GetSyncEvent();
  REQUIRE(sync != nullptr);
  Foreign again;
  ok(arrow::ExportDeviceRecordBatch(*imported, sync, again.get()));
  imported.reset();
  CHECK(is_ready(*again) == 0);
  engine.resume();
  ok(sync->Wait());
  CHECK(is_ready(*again) == 1);
  CHECK(same(*expected, *read(*again, expected->schema())));
}

}  // namespace
