// SPDX-License-Identifier: Apache-2.0
#include "peer.h"

#include <arrow/json/from_string.h>

#include <atomic>

namespace arrow_cpp_test {
namespace {

std::atomic<int64_t> live{0};

arrow::Status status_of(int code, const arrowdevice_error& error) {
  return code == 0 ? arrow::Status::OK() : arrow::Status::IOError(error.message);
}

class Event final : public arrow::Device::SyncEvent {
 public:
  Event(int64_t id, void* event, release_fn_t release) : SyncEvent(event, std::move(release)), id_(id) {}

  arrow::Status Wait() override {
    ArrowDeviceArray array{};
    array.array.release = [](ArrowArray*) {};
    array.device_id = id_;
    array.device_type = ARROW_DEVICE_EXT_DEV;
    array.sync_event = get_raw();
    arrowdevice_error error{};
    return status_of(arrowdevice_array_wait(&array, nullptr, ARROWDEVICE_NO_TIMEOUT, &error), error);
  }
  arrow::Status Record(const arrow::Device::Stream&) override { return arrow::Status::NotImplemented("record"); }

 private:
  const int64_t id_;
};

class Sim final : public arrow::Device {
 public:
  explicit Sim(int64_t id) : id_(id) {}
  const char* type_name() const override { return "arrowdevice::sim"; }
  std::string ToString() const override { return "sim:" + std::to_string(id_); }
  bool Equals(const Device& other) const override { return ToString() == other.ToString(); }
  arrow::DeviceAllocationType device_type() const override { return kSim; }
  int64_t device_id() const override { return id_; }
  MemoryPtr default_memory_manager() override { return sim_memory(id_); }

 private:
  const int64_t id_;
};

class SimBuffer final : public arrow::MutableBuffer {
 public:
  SimBuffer(void* data, int64_t size, MemoryPtr memory, int64_t id)
      : MutableBuffer(static_cast<uint8_t*>(data), size, std::move(memory)), id_(id), data_there_(data) {
    ++live;
  }
  ~SimBuffer() override {
    arrowdevice_device* device = nullptr;
    arrowdevice_device_find_by_id(ARROW_DEVICE_EXT_DEV, id_, &device, nullptr);
    arrowdevice_buffer_free(device, nullptr, data_there_);
    --live;
  }

 private:
  const int64_t id_;
  void* const data_there_;
};

class SimMemory final : public arrow::MemoryManager {
 public:
  explicit SimMemory(int64_t id) : MemoryManager(std::make_shared<Sim>(id)), id_(id) {}

  arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> GetBufferReader(std::shared_ptr<arrow::Buffer>) override {
    return arrow::Status::NotImplemented("a reader");
  }
  arrow::Result<std::shared_ptr<arrow::io::OutputStream>> GetBufferWriter(std::shared_ptr<arrow::Buffer>) override {
    return arrow::Status::NotImplemented("a writer");
  }
  arrow::Result<std::unique_ptr<arrow::Buffer>> AllocateBuffer(int64_t size) override {
    void* data = nullptr;
    arrowdevice_error error{};
    const int64_t bytes = std::max(size, int64_t{1});
    ARROW_RETURN_NOT_OK(
        status_of(arrowdevice_buffer_allocate(sim(id_), nullptr, nullptr, bytes, &data, &error), error));
    return std::make_unique<SimBuffer>(data, size, shared_from_this(), id_);
  }
  arrow::Result<std::shared_ptr<arrow::Device::SyncEvent>> WrapDeviceSyncEvent(
      void* event, arrow::Device::SyncEvent::release_fn_t release) override {
    return std::make_shared<Event>(id_, event, std::move(release));
  }

 protected:
  arrow::Result<std::unique_ptr<arrow::Buffer>> CopyNonOwnedFrom(const arrow::Buffer& buffer,
                                                                 const MemoryPtr& from) override {
    if (!from->is_cpu()) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto there, AllocateBuffer(buffer.size()));
    ARROW_RETURN_NOT_OK(copy_bytes(reinterpret_cast<void*>(there->address()), buffer.data(), buffer.size(), true));
    return there;
  }
  arrow::Result<std::unique_ptr<arrow::Buffer>> CopyNonOwnedTo(const arrow::Buffer& buffer,
                                                               const MemoryPtr& to) override {
    if (!to->is_cpu()) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto here, to->AllocateBuffer(buffer.size()));
    ARROW_RETURN_NOT_OK(
        copy_bytes(here->mutable_data(), reinterpret_cast<const void*>(buffer.address()), buffer.size(), false));
    return here;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> CopyBufferFrom(const std::shared_ptr<arrow::Buffer>& buffer,
                                                               const MemoryPtr& from) override {
    ARROW_ASSIGN_OR_RAISE(auto copied, CopyNonOwnedFrom(*buffer, from));
    return std::shared_ptr<arrow::Buffer>(std::move(copied));
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> CopyBufferTo(const std::shared_ptr<arrow::Buffer>& buffer,
                                                             const MemoryPtr& to) override {
    ARROW_ASSIGN_OR_RAISE(auto copied, CopyNonOwnedTo(*buffer, to));
    return std::shared_ptr<arrow::Buffer>(std::move(copied));
  }

 private:
  arrow::Status copy_bytes(void* to, const void* from, int64_t size, bool there) const {
    if (size == 0) return arrow::Status::OK();
    arrowdevice_device* device = nullptr;
    arrowdevice_queue* queue = nullptr;
    arrowdevice_error error{};
    int code = arrowdevice_device_find_by_id(ARROW_DEVICE_EXT_DEV, id_, &device, &error);
    if (code == 0) code = arrowdevice_queue_create(device, &queue, &error);
    const std::unique_ptr<arrowdevice_queue, End<arrowdevice_queue, arrowdevice_queue_destroy>> owned(queue);
    const arrowdevice_copy_region region{there ? device : nullptr, to, 0, there ? nullptr : device, from, 0, size, 0};
    if (code == 0) code = arrowdevice_queue_copy(queue, &region, 1, &error);
    if (code == 0) code = arrowdevice_queue_finish(queue, ARROWDEVICE_NO_TIMEOUT, &error);
    return status_of(code, error);
  }

  const int64_t id_;
};

// Counts nulls first, because Arrow C++ would read device memory to count them.
arrow::Result<std::shared_ptr<arrow::ArrayData>> copy_data(const arrow::ArrayData& data, const MemoryPtr& to) {
  data.GetNullCount();
  auto copied = std::make_shared<arrow::ArrayData>(data);
  for (auto& buffer : copied->buffers) {
    if (buffer == nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(buffer, arrow::MemoryManager::CopyBuffer(buffer, to));
  }
  for (auto& child : copied->child_data) {
    ARROW_ASSIGN_OR_RAISE(child, copy_data(*child, to));
  }
  if (copied->dictionary != nullptr) {
    ARROW_ASSIGN_OR_RAISE(copied->dictionary, copy_data(*copied->dictionary, to));
  }
  return copied;
}

}  // namespace

MemoryPtr sim_memory(int64_t id) { return std::make_shared<SimMemory>(id); }

int64_t live_buffers() { return live; }

arrow::Result<MemoryPtr> map_device(ArrowDeviceType type, int64_t id) {
  if (type == ARROW_DEVICE_CPU) return arrow::default_cpu_memory_manager();
  if (type == ARROW_DEVICE_EXT_DEV) return sim_memory(id);
  return arrow::Status::NotImplemented("device type ", type);
}

ArrayPtr from_json(const TypePtr& type, const std::string& json) {
  return ok(arrow::json::ArrayFromJSONString(type, json));
}

ArrayPtr to_sim(const ArrayPtr& host, int64_t id) {
  return arrow::MakeArray(ok(copy_data(*host->data(), sim_memory(id))));
}

BatchPtr to_sim(const BatchPtr& host, int64_t id) {
  std::vector<ArrayPtr> columns;
  for (const auto& column : host->columns()) columns.push_back(to_sim(column, id));
  return arrow::RecordBatch::Make(host->schema(), host->num_rows(), std::move(columns));
}

std::vector<BatchPtr> to_sim(const std::vector<BatchPtr>& host, int64_t id) {
  std::vector<BatchPtr> there;
  for (const auto& batch : host) there.push_back(to_sim(batch, id));
  return there;
}

ArrayPtr to_cpu(const ArrayPtr& array) { return ok(array->CopyTo(arrow::default_cpu_memory_manager())); }
BatchPtr to_cpu(const BatchPtr& batch) { return ok(batch->CopyTo(arrow::default_cpu_memory_manager())); }

SchemaPtr ints() { return arrow::schema({arrow::field("ints", arrow::int32())}); }

std::vector<BatchPtr> ints_batches(int64_t n) {
  std::vector<BatchPtr> batches;
  for (int64_t i = 0; i < n; ++i) {
    const auto array = from_json(arrow::int32(), i % 2 == 0 ? "[1, 2]" : "[4, 5, null]");
    batches.push_back(arrow::RecordBatch::Make(ints(), array->length(), {array}));
  }
  return batches;
}

namespace {

Owned<ArrowArray> to_host(ArrowDeviceArray& moved, const ArrowSchema& schema) {
  Owned<ArrowArray> host;
  must(arrowdevice_array_to_host, &moved, &schema, static_cast<const arrowdevice_copy_options*>(nullptr), host.out());
  return host;
}

}  // namespace

ArrayPtr read(ArrowDeviceArray& moved, const TypePtr& type) {
  Owned<ArrowSchema> schema;
  ok(arrow::ExportType(*type, schema.out()));
  auto host = to_host(moved, *schema);
  const auto array = ok(arrow::ImportArray(host.get(), type));
  ok(array->ValidateFull());
  return ok(array->CopyTo(arrow::default_cpu_memory_manager()));
}

BatchPtr read(ArrowDeviceArray& moved, const SchemaPtr& schema) {
  Owned<ArrowSchema> exported;
  ok(arrow::ExportSchema(*schema, exported.out()));
  auto host = to_host(moved, *exported);
  const auto batch = ok(arrow::ImportRecordBatch(host.get(), schema));
  ok(batch->ValidateFull());
  return batch;
}

BatchPtr read_next(DeviceStream& stream, const SchemaPtr& schema) {
  Array array = next(stream);
  return array.released() ? nullptr : read(*array, schema);
}

bool same(const arrow::Array& one, const arrow::Array& other) {
  UNSCOPED_INFO(one.ToString() << "\nand\n" << other.ToString());
  return one.type()->Equals(*other.type(), true) && one.Equals(other);
}

bool same(const arrow::RecordBatch& one, const arrow::RecordBatch& other) {
  UNSCOPED_INFO(one.ToString() << "\nand\n" << other.ToString());
  return one.Equals(other, true);
}

}  // namespace arrow_cpp_test
