// SPDX-License-Identifier: Apache-2.0
// Device streams that Arrow C++ exports and the library consumes, and streams of the library that Arrow C++
// reads. The cases have the names of Arrow's own tests if these exist.
#include <thread>

#include "peer.h"

namespace {

using namespace arrow_cpp_test;  // NOLINT: what every line of these tests is written with

using ReaderPtr = std::shared_ptr<arrow::RecordBatchReader>;

class FailingReader final : public arrow::RecordBatchReader {
 public:
  FailingReader(std::vector<BatchPtr> good, arrow::Status error) : good_(std::move(good)), error_(std::move(error)) {}

  SchemaPtr schema() const override { return ints(); }
  arrow::Status ReadNext(BatchPtr* batch) override {
    if (next_ == good_.size()) return error_;
    *batch = good_[next_++];
    return arrow::Status::OK();
  }
  arrow::DeviceAllocationType device_type() const override { return kSim; }

 private:
  std::vector<BatchPtr> good_;
  size_t next_ = 0;
  const arrow::Status error_;
};

ReaderPtr reader_of(const std::vector<BatchPtr>& batches) {
  return ok(arrow::RecordBatchReader::Make(to_sim(batches), ints(), kSim));
}

DeviceStream exported(ReaderPtr reader) {
  DeviceStream stream;
  ok(arrow::ExportDeviceRecordBatchReader(std::move(reader), stream.out()));
  return stream;
}

ReaderPtr imported(DeviceStream stream) {
  auto reader = ok(arrow::ImportDeviceRecordBatchReader(stream.get(), map_device));
  CHECK(stream.released());
  return reader;
}

SchemaPtr schema_of(DeviceStream& stream) {
  Owned<ArrowSchema> schema;
  must(arrowdevice_stream_get_schema, stream.get(), schema.out());
  return ok(arrow::ImportSchema(schema.get()));
}

// Runs the check on an array stream of Arrow C++, first directly and then through a stream of the library.
template <typename Check>
void with_each_consumer(const Check& check) {
  begin();
  const int64_t live = live_buffers();
  for (auto* to : {static_cast<arrowdevice_device*>(nullptr), cpu(), sim(1), sim(3)}) {
    for (const uint32_t flags : {0U, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
      INFO("to " << (to == nullptr ? "nobody" : describe(to).name) << ", flags " << flags);
      check([&](ReaderPtr reader) {
        DeviceStream stream = exported(std::move(reader));
        CHECK(stream->device_type == ARROW_DEVICE_EXT_DEV);
        return to == nullptr ? std::move(stream) : to_device(std::move(stream), to, stream_options(flags));
      });
    }
  }
  until([&] { return live_buffers() == live; });  // a thread that reads ahead may end a little later
}

TEST_CASE("TestArrayDeviceStreamExport.Empty") {
  with_each_consumer([](const auto& consume) {
    DeviceStream stream = consume(reader_of({}));
    CHECK(schema_of(stream)->Equals(*ints()));
    for (int i = 0; i < 2; ++i) CHECK(next(stream).released());
  });
}

TEST_CASE("TestArrayDeviceStreamExport.Simple") {
  with_each_consumer([](const auto& consume) {
    const auto batches = ints_batches();
    DeviceStream stream = consume(reader_of(batches));
    CHECK(schema_of(stream)->Equals(*ints()));
    for (const auto& batch : batches) CHECK(same(*batch, *read_next(stream, ints())));
    for (int i = 0; i < 2; ++i) CHECK(next(stream).released());
  });
}

TEST_CASE("TestArrayDeviceStreamExport.ArrayLifetime") {
  with_each_consumer([](const auto& consume) {
    const auto batches = ints_batches();
    Array first, second;
    {
      DeviceStream stream = consume(reader_of(batches));
      first = next(stream);
      second = next(stream);
      CHECK(next(stream).released());
    }
    CHECK(same(*batches[1], *read(*second, ints())));
    CHECK(same(*batches[0], *read(*first, ints())));
  });
}

TEST_CASE("TestArrayDeviceStreamExport.Errors") {
  with_each_consumer([](const auto& consume) {
    const auto batches = ints_batches();
    const auto failure = arrow::Status::Invalid("some example error");
    DeviceStream stream = consume(std::make_shared<FailingReader>(to_sim(batches), failure));
    CHECK(schema_of(stream)->Equals(*ints()));
    for (const auto& batch : batches) CHECK(same(*batch, *read_next(stream, ints())));
    CHECK(contains(next_fails(EINVAL, stream), "some example error"));
    CHECK(contains(next_fails(EINVAL, stream), "some example error"));
  });
}

DeviceStream exported(const std::shared_ptr<arrow::ChunkedArray>& chunked) {
  DeviceStream stream;
  ok(arrow::ExportDeviceChunkedArray(chunked, kSim, stream.out()));
  return stream;
}

TypePtr type_of(DeviceStream& stream) {
  Owned<ArrowSchema> schema;
  must(arrowdevice_stream_get_schema, stream.get(), schema.out());
  return ok(arrow::ImportType(schema.get()));
}

TEST_CASE("TestArrayDeviceStreamExport.ChunkedArrayExportEmpty") {
  begin();
  for (auto* to : {cpu(), sim(1)}) {
    DeviceStream stream = to_device(exported(ok(arrow::ChunkedArray::Make({}, arrow::int32()))), to);
    CHECK(type_of(stream)->Equals(*arrow::int32()));
    CHECK(next(stream).released());
  }
}

TEST_CASE("TestArrayDeviceStreamExport.ChunkedArrayExport") {
  begin();
  const auto one = from_json(arrow::int32(), "[1, 2]"), other = from_json(arrow::int32(), "[4, 5, null]");
  for (auto* to : {cpu(), sim(1)}) {
    Array first, second;
    {
      DeviceStream stream = to_device(exported(ok(arrow::ChunkedArray::Make({to_sim(one), to_sim(other)}))), to);
      CHECK(type_of(stream)->Equals(*arrow::int32()));
      first = next(stream);
      second = next(stream);
      CHECK(next(stream).released());
    }
    CHECK(same(*one, *read(*first, arrow::int32())));
    CHECK(same(*other, *read(*second, arrow::int32())));
  }
}

// Passes a reader from Arrow C++ through a stream of the library, on another device, back to Arrow C++.
ReaderPtr around(ReaderPtr reader, uint32_t flags = 0) {
  return imported(to_device(exported(std::move(reader)), sim(1), stream_options(flags)));
}

TEST_CASE("TestArrayDeviceStreamRoundtrip.Simple") {
  begin();
  const int64_t live = live_buffers();
  const auto batches = ints_batches(20);
  for (const uint32_t flags : {0U, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    const auto reader = around(reader_of(batches), flags);
    CHECK(reader->schema()->Equals(*ints()));
    for (const auto& batch : batches) {
      const auto came = ok(reader->Next());
      REQUIRE(came != nullptr);
      CHECK(came->device_type() == kSim);
      if (const auto sync = came->GetSyncEvent()) ok(sync->Wait());
      CHECK(same(*batch, *to_cpu(came)));
    }
    for (int i = 0; i < 2; ++i) CHECK(ok(reader->Next()) == nullptr);
    ok(reader->Close());
    CHECK(fails_with(reader->Next().status(), arrow::StatusCode::Invalid, "already been closed"));
  }
  until([&] { return live_buffers() == live; });
}

TEST_CASE("TestArrayDeviceStreamRoundtrip.CloseEarly") {
  begin();
  const int64_t live = live_buffers();
  for (const uint32_t flags : {0U, uint32_t{ARROWDEVICE_STREAM_READ_AHEAD}}) {
    const auto reader = around(reader_of(ints_batches(9)), flags);
    REQUIRE(ok(reader->Next()) != nullptr);
    ok(reader->Close());
    CHECK(fails_with(reader->Next().status(), arrow::StatusCode::Invalid, "already been closed"));
  }
  until([&] { return live_buffers() == live; });
}

TEST_CASE("TestArrayDeviceStreamRoundtrip.Errors") {
  begin();
  for (const auto& [status, code] :
       {std::pair(arrow::Status::Invalid("roundtrip error example"), arrow::StatusCode::Invalid),
        std::pair(arrow::Status::NotImplemented("roundtrip error example"), arrow::StatusCode::NotImplemented),
        std::pair(arrow::Status::OutOfMemory("roundtrip error example"), arrow::StatusCode::OutOfMemory),
        std::pair(arrow::Status::IOError("roundtrip error example"), arrow::StatusCode::IOError)}) {
    const auto reader = around(std::make_shared<FailingReader>(to_sim(ints_batches()), status));
    for (int i = 0; i < 2; ++i) REQUIRE(ok(reader->Next()) != nullptr);
    CHECK(fails_with(reader->Next().status(), code, "roundtrip error example"));
  }
}

TEST_CASE("TestArrayDeviceStreamRoundtrip.SchemaError") {
  begin();
  auto producer = std::make_shared<Producer>(field("i"));
  producer->schema_code = EIO;
  DeviceStream stream = to_device(stream_of(producer, ARROW_DEVICE_EXT_DEV), sim(1));
  CHECK(fails_with(arrow::ImportDeviceRecordBatchReader(stream.get(), map_device).status(), arrow::StatusCode::IOError,
                   "no schema today"));
  CHECK(stream.released());
  CHECK(producer->releases == 1);
}

TEST_CASE("TestArrayDeviceStreamRoundtrip.ChunkedArrayRoundtrip") {
  begin();
  const int64_t live = live_buffers();
  const auto one = from_json(arrow::int32(), "[1, 2]"), other = from_json(arrow::int32(), "[4, 5, null]");
  {
    DeviceStream stream = to_device(exported(ok(arrow::ChunkedArray::Make({to_sim(one), to_sim(other)}))), sim(1));
    const auto came = ok(arrow::ImportDeviceChunkedArray(stream.get(), map_device));
    CHECK(stream.released());
    REQUIRE(came->num_chunks() == 2);
    must(arrowdevice_wait_idle, ARROWDEVICE_NO_TIMEOUT);  // the copies
    CHECK(same(*one, *to_cpu(came->chunk(0))));
    CHECK(same(*other, *to_cpu(came->chunk(1))));
  }
  until([&] { return live_buffers() == live; });
}

TEST_CASE("TestArrayDeviceStreamRoundtrip.ChunkedArrayRoundtripEmpty") {
  begin();
  DeviceStream stream = to_device(exported(ok(arrow::ChunkedArray::Make({}, arrow::int32()))), sim(1));
  const auto came = ok(arrow::ImportDeviceChunkedArray(stream.get(), map_device));
  CHECK(stream.released());
  CHECK(came->type()->Equals(*arrow::int32()));
  CHECK(came->length() == 0);
}

TEST_CASE("a stream of the library's own arrays on a device is read by Arrow C++") {
  begin();
  const auto batches = ints_batches();
  Owned<ArrowSchema> schema;
  ok(arrow::ExportSchema(*ints(), schema.out()));
  std::vector<ArrowDeviceArray> arrays;
  for (const auto& batch : batches) {
    Array host;
    ok(arrow::ExportDeviceRecordBatch(*batch, nullptr, host.out()));
    arrays.push_back(copy(*host, *schema, sim(0)).take());
  }
  DeviceStream stream;
  must(arrowdevice_stream_from_arrays, schema.get(), arrays.data(), int64_t{2}, ArrowDeviceType{ARROW_DEVICE_EXT_DEV},
       stream.out());
  const auto reader = imported(std::move(stream));
  for (const auto& batch : batches) CHECK(same(*batch, *to_cpu(ok(reader->Next()))));
  CHECK(ok(reader->Next()) == nullptr);
}

TEST_CASE("a device stream accepts Arrow C++'s batch without buffers from the CPU") {
  begin();
  const auto schema = arrow::schema({arrow::field("nothing", arrow::null())});
  const auto batch = arrow::RecordBatch::Make(schema, 3, {from_json(arrow::null(), "[null, null, null]")});
  for (auto* to : {cpu(), sim(1)}) {
    DeviceStream stream = to_device(exported(ok(arrow::RecordBatchReader::Make({batch}, schema, kSim))), to);
    CHECK(next(stream)->array.length == 3);
  }
}

// A reader that blocks in ReadNext() until the test releases it.
class WaitingReader final : public arrow::RecordBatchReader {
 public:
  SchemaPtr schema() const override { return ints(); }
  arrow::DeviceAllocationType device_type() const override { return kSim; }
  arrow::Status ReadNext(BatchPtr* batch) override {
    inside = true;
    until([&] { return may_return.load(); });
    *batch = nullptr;
    return arrow::Status::OK();
  }
  std::atomic<bool> inside{false}, may_return{false};
};

TEST_CASE("a stream is cancelled and released while its thread is in Arrow C++'s reader") {
  begin();
  const auto reader = std::make_shared<WaitingReader>();
  DeviceStream stream = to_device(exported(reader), cpu(), stream_options(ARROWDEVICE_STREAM_READ_AHEAD));
  std::thread canceller([&] {
    until([&] { return reader->inside.load(); });
    arrowdevice_stream_cancel(stream.get(), nullptr);
  });
  next_fails(ECANCELED, stream);
  canceller.join();
  stream.reset();
  CHECK(reader.use_count() > 1);  // the thread is still in ReadNext()
  reader->may_return = true;
  until([&] { return reader.use_count() == 1; });
}

}  // namespace
