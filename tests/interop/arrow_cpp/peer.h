// SPDX-License-Identifier: Apache-2.0
// Arrow C++ beside the library: functions to make its data, to check its errors, and to use the simulated
// devices as its devices.
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

// Requires that the status is OK. The caller is the test's thread, because the test framework needs that.
inline void ok(const arrow::Status& status) {
  INFO(status.ToString());
  REQUIRE(status.ok());
}
template <typename Value>
Value ok(arrow::Result<Value> result) {
  ok(result.status());
  return std::move(result).ValueUnsafe();
}

// Returns true if the status has this code and its message contains the text.
inline bool fails_with(const arrow::Status& status, arrow::StatusCode code, const std::string& text) {
  UNSCOPED_INFO(status.ToString());
  return status.code() == code && contains(status.message(), text);
}

// Returns a simulated device with addresses as a device of Arrow C++. Its memory is no host memory there
// either.
MemoryPtr sim_memory(int64_t id = 0);

// Returns the number of live buffers of Arrow C++ on those devices.
int64_t live_buffers();

// Maps a device for the imports of Arrow C++.
arrow::Result<MemoryPtr> map_device(ArrowDeviceType type, int64_t id);

ArrayPtr from_json(const TypePtr& type, const std::string& json);

// Copy the buffers to or from the device. The offset and the null count stay the same.
ArrayPtr to_sim(const ArrayPtr& host, int64_t id = 0);
BatchPtr to_sim(const BatchPtr& host, int64_t id = 0);
ArrayPtr to_cpu(const ArrayPtr& array);
BatchPtr to_cpu(const BatchPtr& batch);

// Return the column "ints" of int32: [1, 2], then [4, 5, null], in `n` batches.
SchemaPtr ints();
std::vector<BatchPtr> ints_batches(int64_t n = 2);
std::vector<BatchPtr> to_sim(const std::vector<BatchPtr>& host, int64_t id = 0);

// A target for an export. It begins as garbage, in case a producer forgets to write a member.
struct Foreign : Owned<ArrowDeviceArray> {
  Foreign() {
    std::memset(get(), 0x5C, sizeof(ArrowDeviceArray));
    get()->array.release = nullptr;
  }
};

// Reads a moved device array through the library and Arrow C++, and releases it.
ArrayPtr read(ArrowDeviceArray& moved, const TypePtr& type);
BatchPtr read(ArrowDeviceArray& moved, const SchemaPtr& schema);

// Reads the next batch of the stream in the same manner. Returns NULL at its end.
BatchPtr read_next(DeviceStream& stream, const SchemaPtr& schema);

bool same(const arrow::Array& one, const arrow::Array& other);
bool same(const arrow::RecordBatch& one, const arrow::RecordBatch& other);

}  // namespace arrow_cpp_test
