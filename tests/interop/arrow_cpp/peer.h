// SPDX-License-Identifier: Apache-2.0
// Arrow C++ beside the library: its data made, its errors checked, and the simulated devices as devices of its own.
#pragma once

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/device.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/table.h>
#include <arrow/type.h>

#include <memory>
#include <string>
#include <utility>

#include "unit/stream_handler.h"

namespace arrow_cpp_test {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

using ArrayPtr = std::shared_ptr<arrow::Array>;
using BatchPtr = std::shared_ptr<arrow::RecordBatch>;
using SchemaPtr = std::shared_ptr<arrow::Schema>;
using TypePtr = std::shared_ptr<arrow::DataType>;
using MemoryPtr = std::shared_ptr<arrow::MemoryManager>;

inline constexpr auto kSim = arrow::DeviceAllocationType::kEXT_DEV;

// Arrow C++ says that it went well. On the test's thread only.
inline void ok(const arrow::Status& status) {
  INFO(status.ToString());
  REQUIRE(status.ok());
}
template <typename Value>
Value ok(arrow::Result<Value> result) {
  ok(result.status());
  return std::move(result).ValueUnsafe();
}

// Arrow C++ says that it did not, with this in the text.
inline bool fails_with(const arrow::Status& status, arrow::StatusCode code, const std::string& text) {
  UNSCOPED_INFO(status.ToString());
  return status.code() == code && contains(status.message(), text);
}

// A simulated device with addresses, as Arrow C++ knows devices: its memory is no host memory there either.
MemoryPtr sim_memory(int64_t id = 0);

// Buffers of Arrow C++ on those devices that are alive.
int64_t live_buffers();

// For the imports of Arrow C++.
arrow::Result<MemoryPtr> map_device(ArrowDeviceType type, int64_t id);

ArrayPtr from_json(const TypePtr& type, const std::string& json);

// The same with its buffers there, offset and null count included.
ArrayPtr to_sim(const ArrayPtr& host, int64_t id = 0);
BatchPtr to_sim(const BatchPtr& host, int64_t id = 0);
ArrayPtr to_cpu(const ArrayPtr& array);
BatchPtr to_cpu(const BatchPtr& batch);

// One column "ints" of int32: [1, 2], then [4, 5, null], as many batches as asked for.
SchemaPtr ints();
std::vector<BatchPtr> ints_batches(int64_t n = 2);
std::vector<BatchPtr> to_sim(const std::vector<BatchPtr>& host, int64_t id = 0);

// Something to be exported into, with garbage where a producer may forget to write.
struct Foreign : Owned<ArrowDeviceArray> {
  Foreign() {
    std::memset(get(), 0x5C, sizeof(ArrowDeviceArray));
    get()->array.release = nullptr;
  }
};

// What a device array that was handed over is, read by way of the library and of Arrow C++; released.
ArrayPtr read(ArrowDeviceArray& moved, const TypePtr& type);
BatchPtr read(ArrowDeviceArray& moved, const SchemaPtr& schema);

// The next batch of the stream, read so; NULL at its end.
BatchPtr read_next(DeviceStream& stream, const SchemaPtr& schema);

bool same(const arrow::Array& one, const arrow::Array& other);
bool same(const arrow::RecordBatch& one, const arrow::RecordBatch& other);

}  // namespace arrow_cpp_test
