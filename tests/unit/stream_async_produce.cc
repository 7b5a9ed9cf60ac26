// SPDX-License-Identifier: Apache-2.0
// Tests the library as a producer of async streams.
#include <thread>

#include "stream_handler.h"

namespace {

using namespace stream_test;  // NOLINT: what every line of these tests is written with

constexpr int64_t kBatches = 5;

Sample batch_sample() { return Sample(mixed_batch(), {.rows = kRows * kBatches}); }

void produce(DeviceStream stream, const std::shared_ptr<Consumer>& consumer,
             const arrowdevice_async_options* options = nullptr) {
  must(arrowdevice_async_produce, stream.get(), handler_of(consumer), options);
  CHECK(stream.released());
}

void check_rows(const Sample& sample, const Consumer& consumer, size_t n = kBatches) {
  REQUIRE(consumer.arrays.size() == n);
  for (size_t i = 0; i < n; ++i) {
    CHECK(difference(sample, *consumer.arrays[i], static_cast<int64_t>(i) * kRows) == "");
  }
}

TEST_CASE("a handler gets the schema, the tasks, the end and the release of a stream") {
  begin();
  const Sample sample = batch_sample();
  auto producer = batches_of(sample, kRows, sim(0));
  auto consumer = std::make_shared<Consumer>();
  produce(stream_of(producer, ARROW_DEVICE_EXT_DEV), consumer);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STTTTTER");
  CHECK(consumer->device_type == ARROW_DEVICE_EXT_DEV);
  CHECK(consumer->additional_metadata == "");
  CHECK(consumer->schema->n_children == sample.schema->n_children);
  check_rows(sample, *consumer);
  CHECK_FALSE(consumer->overlapped);
  CHECK(producer->releases == 1);
}

TEST_CASE("a stream produces only requested arrays, never inside of the request") {
  begin();
  const Sample sample = batch_sample();
  auto producer = batches_of(sample, kRows);
  auto consumer = std::make_shared<Consumer>();
  std::atomic<bool> requesting{false};
  std::atomic<bool> called_within{false};
  std::atomic<std::thread::id> requester{};
  const auto request = [&](int64_t n) {
    requester = std::this_thread::get_id();
    requesting = true;
    consumer->request(n);
    requesting = false;
  };
  consumer->on_schema = [&](Consumer&) { return request(2), 0; };
  consumer->on_task = [&](Consumer& told, ArrowAsyncTask* task) {
    if (requesting && requester.load() == std::this_thread::get_id()) called_within = true;
    return told.keep_data(task);
  };
  produce(stream_of(producer), consumer);
  consumer->wait_for_tasks(2);
  CHECK(producer->calls == 2);
  request(1);
  consumer->wait_for_tasks(3);
  CHECK(consumer->calls() == "STTT");
  CHECK(producer->calls == 3);
  request(10);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STTTTTER");
  CHECK_FALSE(called_within);
  check_rows(sample, *consumer);
}

TEST_CASE("a request of 0 arrays ends the stream with an error") {
  begin();
  const Sample sample = batch_sample();
  for (const int64_t n : {int64_t{0}, int64_t{-3}, INT64_MIN}) {
    auto consumer = std::make_shared<Consumer>();
    consumer->on_schema = [n](Consumer& told) { return told.request(n), 0; };
    auto producer = batches_of(sample, kRows);
    produce(stream_of(producer), consumer);
    consumer->wait_for_release();
    CHECK(consumer->calls() == "SXR");
    CHECK(consumer->code == EINVAL);
    CHECK(consumer->text != "");
    CHECK(producer->releases == 1);
  }
}

TEST_CASE("a cancel from any callback, even repeated, ends the stream without an error") {
  begin();
  const Sample sample = batch_sample();
  auto consumer = std::make_shared<Consumer>();
  consumer->on_schema = [](Consumer& told) { return told.request(2), 0; };
  auto producer = batches_of(sample, kRows);
  produce(stream_of(producer), consumer);
  consumer->wait_for_tasks(2);
  consumer->cancel();
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STTR");
  CHECK(producer->releases == 1);

  consumer = std::make_shared<Consumer>();
  consumer->on_task = [](Consumer& told, ArrowAsyncTask* task) {
    for (int i = 0; i < 3; ++i) told.cancel();
    told.request(5);
    told.request(-5);
    return told.keep_data(task);
  };
  producer = batches_of(sample, kRows);
  produce(stream_of(producer), consumer);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STR");
  CHECK(producer->calls == 1);
}

TEST_CASE("after a failed callback only the release follows, and its task is discarded") {
  begin();
  const Sample sample = batch_sample();
  auto refuses_schema = std::make_shared<Consumer>();
  refuses_schema->on_schema = [](Consumer& told) { return told.request(1), ENOBUFS; };
  auto refuses_task = std::make_shared<Consumer>();
  refuses_task->on_task = [](Consumer& told, ArrowAsyncTask*) { return told.metadata.size() == 2 ? ENOBUFS : 0; };
  auto takes_and_refuses = std::make_shared<Consumer>();
  takes_and_refuses->on_task = [](Consumer& told, ArrowAsyncTask* task) { return told.keep_data(task), ENOBUFS; };
  const Ledger ledger;
  for (const auto& [consumer, calls] :
       {std::pair(refuses_schema, "SR"), std::pair(refuses_task, "STTR"), std::pair(takes_and_refuses, "STR")}) {
    auto producer = std::make_shared<Producer>(sample.type);
    for (int64_t i = 0; i < kBatches; ++i) {
      producer->steps.push_back({from_host(make_array(generate(sample.type, {.rows = kRows}), ledger))});
    }
    if (consumer == refuses_task) {
      consumer->on_task = [](Consumer& told, ArrowAsyncTask* task) {
        return told.metadata.size() == 2 ? ENOBUFS : told.keep_data(task);
      };
    }
    produce(stream_of(producer), consumer);
    consumer->wait_for_release();
    CHECK(consumer->calls() == calls);
    CHECK(producer->releases == 1);
    consumer->arrays.clear();
    producer->steps.clear();
    CHECK(ledger.live() == 0);
  }
}

TEST_CASE("a handler gets a stream's error after the arrays, with code and text") {
  begin();
  const Sample sample = batch_sample();
  auto producer = batches_of(sample, kRows);
  producer->steps[3].code = EREMOTEIO;
  producer->steps[3].text = "the disk is gone";
  auto consumer = std::make_shared<Consumer>();
  produce(stream_of(producer), consumer);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STTTXR");
  CHECK(consumer->code == EREMOTEIO);
  CHECK(consumer->text == "the disk is gone");
  check_rows(sample, *consumer, 3);

  producer = batches_of(sample, kRows);
  producer->schema_code = EACCES;
  consumer = std::make_shared<Consumer>();
  produce(stream_of(producer), consumer);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "XR");
  CHECK(consumer->text == "no schema today");
}

TEST_CASE("a produced array is canonical, and an event without a device is an error") {
  begin();
  const Sample sample(field("u"), {.rows = kRows * 2});
  auto producer = batches_of(sample, kRows);
  soil(*producer->steps[0].array);
  producer->steps[1].array->sync_event = producer.get();
  auto consumer = std::make_shared<Consumer>();
  produce(stream_of(producer), consumer);
  consumer->wait_for_release();
  CHECK(consumer->calls() == "STXR");
  CHECK(consumer->code == EINVAL);
  CHECK(contains(consumer->text, "sync_event"));
  REQUIRE(consumer->arrays.size() == 1);
  CHECK(is_canonical_on_cpu(*consumer->arrays[0]));
}

TEST_CASE("texts of errors are UTF-8 for a handler") {
  begin();
  auto producer = std::make_shared<Producer>(field("i"));
  producer->steps.push_back({.array = {}, .code = EIO, .text = "bad \xff\xc3 and \xc3\xa4"});
  auto consumer = std::make_shared<Consumer>();
  produce(stream_of(producer), consumer);
  consumer->wait_for_release();
  CHECK(consumer->text == "bad ?? and \xc3\xa4");
}

TEST_CASE("tasks outlive the stream, and the producer can be called while a task is alive") {
  begin();
  const Sample sample = batch_sample();
  auto consumer = std::make_shared<Consumer>();
  consumer->on_task = [](Consumer& told, ArrowAsyncTask* task) { return told.tasks.push_back(*task), 0; };
  produce(stream_of(batches_of(sample, kRows)), consumer);
  consumer->wait_for_release();
  REQUIRE(consumer->tasks.size() == kBatches);
  std::thread other([&] {
    consumer->request(3);
    consumer->cancel();
    consumer->request(0);
  });
  other.join();
  for (size_t i = 0; i < kBatches; ++i) {
    auto& task = consumer->tasks[i];
    if (i % 2 == 1) {
      CHECK(task.extract_data(&task, nullptr) == 0);
    } else {
      CHECK(consumer->keep_data(&task) == 0);
      CHECK(difference(sample, *consumer->arrays.back(), static_cast<int64_t>(i) * kRows) == "");
    }
    CHECK(consumer->keep_data(&task) == EINVAL);  // only one extraction succeeds
  }
  CHECK(consumer->calls() == "STTTTTER");
}

TEST_CASE("the work of a stream runs on the program's executor, one task at a time") {
  begin();
  const Sample sample = batch_sample();
  Executor executor;
  const auto options = executor.options();
  auto consumer = std::make_shared<Consumer>();
  consumer->on_schema = [](Consumer& told) { return told.request(1), told.request(1), 0; };
  auto producer = batches_of(sample, kRows);
  produce(stream_of(producer), consumer, &options);
  CHECK(consumer->calls() == "");
  CHECK(executor.tasks.size() == 1);
  executor.run();
  CHECK(consumer->calls() == "STT");
  CHECK(executor.tasks.empty());  // the stream does not wait on the executor
  consumer->request(2);
  consumer->request(2);
  CHECK(executor.tasks.size() == 1);
  CHECK(consumer->calls() == "STT");
  executor.run();
  CHECK(consumer->calls() == "STTTTTER");
  CHECK_FALSE(producer->called_elsewhere);
  check_rows(sample, *consumer);
}

TEST_CASE("a refusal of the first task is an error, and the stream can be produced again") {
  begin();
  const Sample sample = batch_sample();
  Executor executor;
  executor.accepts = 0;
  const auto options = executor.options();
  auto producer = batches_of(sample, kRows);
  DeviceStream stream = stream_of(producer);
  auto consumer = std::make_shared<Consumer>();
  auto* const handler = handler_of(consumer);
  CHECK(must_fail(EUSERS, arrowdevice_async_produce, stream.get(), handler, &options) != "");
  CHECK_FALSE(stream.released());
  CHECK(consumer->calls() == "");
  CHECK(producer->releases == 0);

  executor.accepts = INT64_MAX;
  must(arrowdevice_async_produce, stream.get(), handler, &options);
  executor.run();
  CHECK(consumer->calls() == "STTTTTER");
  check_rows(sample, *consumer);
}

TEST_CASE("invalid arguments are refused, and the caller keeps the stream") {
  begin();
  const Sample sample = batch_sample();
  DeviceStream stream = stream_of(batches_of(sample, kRows)), released;
  auto consumer = std::make_shared<Consumer>();
  auto* const handler = handler_of(consumer);
  must_fail(EINVAL, arrowdevice_async_produce, nullptr, handler, nullptr);
  must_fail(EINVAL, arrowdevice_async_produce, released.get(), handler, nullptr);
  must_fail(EINVAL, arrowdevice_async_produce, stream.get(), nullptr, nullptr);
  ArrowAsyncDeviceStreamHandler lacking = *handler;
  lacking.on_error = nullptr;
  must_fail_saying(EINVAL, "callback", arrowdevice_async_produce, stream.get(), &lacking, nullptr);
  auto options = async_options(-1);
  must_fail_saying(EINVAL, "depth", arrowdevice_async_produce, stream.get(), handler, &options);
  options = async_options();
  options.flags = 1;
  must_fail_saying(EINVAL, "flags", arrowdevice_async_produce, stream.get(), handler, &options);
  options = async_options();
  options.upstream_layout = 7;
  must_fail_saying(EINVAL, "layout", arrowdevice_async_produce, stream.get(), handler, &options);
  CHECK_FALSE(stream.released());
  CHECK(consumer->calls() == "");
  handler->release(handler);
}

}  // namespace
