// SPDX-License-Identifier: Apache-2.0
// Fuzzes producers of streams, read through every kind of stream of the library. A producer may fail at any
// call with any code and text, return invalid schemas and arrays, or fail to mark its own release.
//
// The following must hold:
//
// - The batches before a failure arrive complete and in order.
// - A failure arrives with its code.
// - The library never calls a producer after its end, and releases it exactly once.
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sample.h"
#include "sim/control.h"
#include "support/reader.h"

namespace {

using namespace fuzz;  // NOLINT: what every line of this file is written with

using DeviceStream = Owned<ArrowDeviceArrayStream>;
using HostStream = Owned<ArrowArrayStream>;

// The action of a producer on a call for an array.
enum class Act { kSound, kEmpty, kSpoiled, kElsewhere, kError, kErrorWithArray, kOtherType };

// The action of a producer on a call for its schema.
enum class SchemaAct { kSound, kError, kErrorWithGarbage, kNothing, kSpoiled };

struct Step {
  Act act;
  int code = 0;
  Array array;
};

// Lives until the library has released the stream, on any thread.
class Producer {
 public:
  Producer(Input& input, const Field& type);

  ArrowDeviceArrayStream stream();
  int64_t sound_batches() const;  // before the first action that is not valid
  int first_code() const;         // 0: the stream ends without an error; -1: the library must find the error
  // Returns true if the first invalid action is an array whose error only shows when its data is read.
  bool may_pass_through() const;
  bool has_schema() const { return schema_act_ == SchemaAct::kSound; }
  // Returns true if the schema is valid, or has an error that only shows when it is read.
  bool may_pass_schema() const { return has_schema() || schema_act_ == SchemaAct::kSpoiled; }
  const ArrowSchema& schema() const { return *schema_; }
  const ArrowArray& twin(int64_t batch) const { return *twins_[static_cast<size_t>(batch)]; }
  const Ledger& ledger() const { return ledger_; }
  void wait_for_release();
  void check_released_once();

 private:
  static Producer& of(ArrowDeviceArrayStream* self) { return *static_cast<Producer*>(self->private_data); }
  static int get_schema(ArrowDeviceArrayStream* self, ArrowSchema* out);
  static int get_next(ArrowDeviceArrayStream* self, ArrowDeviceArray* out);
  static const char* get_last_error(ArrowDeviceArrayStream* self);
  static void release(ArrowDeviceArrayStream* self);
  Array array_of(Act act, const Data& data) const;

  Ledger ledger_;
  Schema schema_;
  SchemaAct schema_act_ = SchemaAct::kSound;
  int schema_code_ = 0;
  bool has_text_;
  bool marks_release_;
  std::vector<Step> steps_;
  std::vector<Owned<ArrowArray>> twins_;
  size_t next_ = 0;
  bool has_ended_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  int releases_ = 0;
};

// Returns a small type. Types matter less than timing here, because the other targets use all types.
Field small_type(Input& input) {
  const Field types[] = {field("l"), field("u"), list_of(field("i", "item")),
                         struct_of({field("l", "a"), field("vu", "b")})};
  return input.pick(types);
}

// Reads the knobs from three bytes.
Knobs few_rows(Input& input) {
  Knobs knobs;
  knobs.rows = input.below(8);
  knobs.nulls = static_cast<Nulls>(input.below(6));
  knobs.offset = knobs.rows % 3;
  knobs.seed = input.byte();
  return knobs;
}

Producer::Producer(Input& input, const Field& type) : schema_(make_schema(type)) {
  constexpr int kCodes[] = {EIO, ENOMEM, EINVAL, ECANCELED, ENOSYS, 1, 9999, -5};
  const int64_t schema_way = input.below(32);
  if (schema_way > 27) schema_act_ = static_cast<SchemaAct>(schema_way - 27);
  if (schema_act_ == SchemaAct::kError || schema_act_ == SchemaAct::kErrorWithGarbage)
    schema_code_ = input.pick(kCodes);
  has_text_ = input.flag();
  marks_release_ = input.below(16) != 15;
  const Ledger twins;
  for (int64_t left = input.below(6); left > 0; --left) {
    const int64_t way = input.below(24);
    const Act act = way < 16 ? Act::kSound : static_cast<Act>(way % 7);
    Knobs knobs = few_rows(input);
    if (act == Act::kEmpty) knobs.rows = 0;
    if (act == Act::kElsewhere && knobs.rows == 0)
      knobs.rows = 1;  // an array without buffers is accepted from anywhere
    Data data = generate(type, knobs);
    Step step{act, act == Act::kError || act == Act::kErrorWithArray ? input.pick(kCodes) : 0, array_of(act, data)};
    twins_.push_back(make_array(std::move(data), twins));
    steps_.push_back(std::move(step));
  }
}

Array Producer::array_of(Act act, const Data& data) const {
  if (act == Act::kError) return {};
  if (act == Act::kOtherType) {
    return Array(on_cpu(make_array(generate(list_of(struct_of({field("vu", "other")})), {}), ledger_)));
  }
  Array made(on_cpu(make_array(data, ledger_)));
  if (act == Act::kSpoiled) made->array.length = -1 - made->array.length;
  if (act == Act::kElsewhere) made->device_type = ARROW_DEVICE_METAL;
  return made;
}

int64_t Producer::sound_batches() const {
  int64_t n = 0;
  for (const Step& step : steps_) {
    if (step.act != Act::kSound && step.act != Act::kEmpty) break;
    ++n;
  }
  return n;
}

int Producer::first_code() const {
  const auto n = static_cast<size_t>(sound_batches());
  if (n == steps_.size()) return 0;
  return steps_[n].code != 0 ? steps_[n].code : -1;
}

bool Producer::may_pass_through() const {
  const auto n = static_cast<size_t>(sound_batches());
  return n < steps_.size() && (steps_[n].act == Act::kSpoiled || steps_[n].act == Act::kOtherType);
}

ArrowDeviceArrayStream Producer::stream() {
  ArrowDeviceArrayStream made{};
  made.device_type = ARROW_DEVICE_CPU;
  made.get_schema = get_schema;
  made.get_next = get_next;
  made.get_last_error = get_last_error;
  made.release = release;
  made.private_data = this;
  return made;
}

int Producer::get_schema(ArrowDeviceArrayStream* self, ArrowSchema* out) {
  auto& producer = of(self);
  check(producer.releases_ == 0, "a stream is asked for its schema after its release");
  if (producer.schema_act_ == SchemaAct::kErrorWithGarbage) std::memset(out, 0x5A, sizeof *out);
  if (producer.schema_code_ != 0) return producer.schema_code_;
  *out = ArrowSchema{};
  if (producer.schema_act_ == SchemaAct::kNothing) return 0;
  const int code = arrowdevice_schema_copy(producer.schema_.get(), out, nullptr);
  if (producer.schema_act_ == SchemaAct::kSpoiled) out->format = "no such format";
  return code;
}

int Producer::get_next(ArrowDeviceArrayStream* self, ArrowDeviceArray* out) {
  auto& producer = of(self);
  check(producer.releases_ == 0, "a stream is asked for a batch after its release");
  check(!producer.has_ended_, "a stream is asked for a batch after its end");
  *out = ArrowDeviceArray{};
  if (producer.next_ == producer.steps_.size()) {
    producer.has_ended_ = true;
    return 0;
  }
  Step& step = producer.steps_[producer.next_++];
  if (step.code != 0) {
    producer.has_ended_ = true;
    // A failed call leaves garbage, or an array that the producer still owns. The library must not read
    // either.
    if (step.act == Act::kError) std::memset(out, 0x5A, sizeof *out);
    if (step.act == Act::kErrorWithArray) *out = *step.array;
    return step.code;
  }
  *out = *step.array;
  step.array->array.release = nullptr;
  return 0;
}

const char* Producer::get_last_error(ArrowDeviceArrayStream* self) {
  return of(self).has_text_ ? "the producer's own words" : nullptr;
}

void Producer::release(ArrowDeviceArrayStream* self) {
  auto& producer = of(self);
  if (producer.marks_release_) self->release = nullptr;
  const std::lock_guard lock(producer.mutex_);
  ++producer.releases_;
  producer.changed_.notify_all();
}

void Producer::wait_for_release() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return releases_ > 0; });
}

void Producer::check_released_once() {
  const std::lock_guard lock(mutex_);
  check(releases_ == 1, "a stream is released twice");
}

// The consumer's actions on a stream. They are decided before data flows, so that short inputs have all of
// them.
struct Reading {
  explicit Reading(Input& input)
      : way(input.below(5)),
        asks_schema(input.flag()),
        most(input.flag() ? 100 : input.below(6)),
        flags(input.flag() ? ARROWDEVICE_STREAM_READ_AHEAD : 0),
        depth(static_cast<int32_t>(input.below(5))) {}

  int64_t way;
  bool asks_schema;
  int64_t most;  // batches that the consumer wants
  uint32_t flags;
  int32_t depth;
};

// Returns a stream of the library over the producer's stream.
DeviceStream stream_over(const Reading& reading, Producer& producer) {
  DeviceStream upstream(producer.stream());
  arrowdevice_stream_options options{};
  options.struct_size = sizeof options;
  options.flags = reading.flags;
  options.depth = reading.depth;
  const arrowdevice_stream_options* const chosen = &options;
  DeviceStream out;
  switch (reading.way) {
    case 0: must(arrowdevice_stream_to_device, upstream.get(), cpu(), chosen, out.out()); break;
    case 1: must(arrowdevice_stream_to_device, upstream.get(), simulated(0), chosen, out.out()); break;
    case 2: must(arrowdevice_stream_to_device, upstream.get(), simulated(1), chosen, out.out()); break;
    case 3: {
      HostStream host;
      must(arrowdevice_stream_to_host, upstream.get(), chosen, host.out());
      must(arrowdevice_stream_from_host, host.get(), out.out());
      break;
    }
    default: {
      ArrowAsyncDeviceStreamHandler* handler = nullptr;
      const arrowdevice_async_options* const defaults = nullptr;
      must(arrowdevice_async_collect, ArrowDeviceType{ARROW_DEVICE_CPU}, defaults, &handler, out.out());
      must(arrowdevice_async_produce, upstream.get(), handler, defaults);
    }
  }
  return out;
}

void check_batch(const Producer& producer, const ArrowDeviceArray& array, int64_t number) {
  check(number < producer.sound_batches(), "a batch arrives that is none");
  Array back;
  must(arrowdevice_array_copy, &array, &producer.schema(), cpu(), static_cast<const arrowdevice_copy_options*>(nullptr),
       back.out());
  const std::string found = difference(producer.schema(), producer.twin(number), producer.schema(), back->array);
  if (!found.empty()) fail("batch " + std::to_string(number) + " is not the same: " + found);
}

// Reads as much as the consumer wants.
void consume(const Reading& reading, const Producer& producer, ArrowDeviceArrayStream& stream) {
  if (reading.asks_schema) {
    Schema schema;
    arrowdevice_error error{};
    const int code = arrowdevice_stream_get_schema(&stream, schema.out(), &error);
    check((code == 0) == !schema.released(), "a schema that failed is there, or one that did not is not");
    check(code == 0 || error.message[0] != '\0', "a schema fails without a reason");
    check(code != 0 || producer.may_pass_schema(), "a schema that is none is passed on");
  }
  for (int64_t number = 0; number < reading.most; ++number) {
    Array array;
    arrowdevice_error error{};
    const int code = arrowdevice_stream_get_next(&stream, array.out(), &error);
    if (code == 0 && array.released()) {
      check(producer.may_pass_schema() && producer.first_code() == 0, "a stream that fails ends well");
      return check(number == producer.sound_batches(), "batches are lost at the end");
    }
    if (code != 0) {
      check(array.released(), "a batch that failed is there");
      check(error.message[0] != '\0', "a stream fails without a reason");
      if (!producer.has_schema()) return;
      check(number == producer.sound_batches(), "batches are lost before a failure");
      return check(producer.first_code() != 0, "a stream that ends well fails");
    }
    // An array that is already on the target device is passed on unchanged.
    if (number == producer.sound_batches() && producer.may_pass_through() && array->device_type == ARROW_DEVICE_CPU)
      return;
    check_batch(producer, *array, number);
  }
}

int64_t threads() {
  struct stat tasks {};
  check(stat("/proc/self/task", &tasks) == 0, "threads cannot be counted");
  return static_cast<int64_t>(tasks.st_nlink) - 2;
}

// Waits until the library's threads have ended. They end a short time after the release of their producer,
// and no event signals this. Without the wait a leak check at the end of the process reports false leaks.
void wait_for_threads_of_streams(int64_t residents) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (threads() > residents) {
    check(std::chrono::steady_clock::now() < limit, "a thread of a stream does not end");
    std::this_thread::yield();
  }
}

// Returns the number of permanent threads: those of the program, the devices and the library.
int64_t resident_threads() {
  static const int64_t residents = [] {
    for (const int64_t id : {0, 1}) {
      arrowdevice_queue* queue = nullptr;
      Array array(on_cpu(make_array(generate(field("l"), {}), Ledger())));
      must(arrowdevice_queue_create, simulated(id), &queue);
      // The library starts its thread for deferred releases only if the event is pending.
      arrowdevice::sim::control::hold(id);
      must(arrowdevice_array_release_after, array.get(), queue);
      arrowdevice::sim::control::resume(id);
      arrowdevice_queue_destroy(queue);
    }
    must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
    std::atexit([] { wait_for_threads_of_streams(resident_threads()); });
    return threads();
  }();
  return residents;
}

// Checks the number of threads. Those of the last inputs may still be ending.
void check_threads() {
  constexpr int64_t kEnding = 200;
  check(threads() <= resident_threads() + kEnding, "threads of streams do not end");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  check_threads();
  Input input(bytes, size);
  const Reading reading(input);
  Producer producer(input, small_type(input));
  {
    DeviceStream stream = stream_over(reading, producer);
    consume(reading, producer, *stream);
  }
  producer.wait_for_release();
  must(arrowdevice_wait_idle, int64_t{ARROWDEVICE_NO_TIMEOUT});
  producer.check_released_once();
  return 0;
}
