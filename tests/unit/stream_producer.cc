// SPDX-License-Identifier: Apache-2.0
#include "stream_producer.h"

#include "support/callback.h"

namespace stream_test {

struct Producer::Callbacks {
  using Held = std::shared_ptr<Producer>;

  template <typename Stream>
  static Producer& of(Stream* self) {
    return **static_cast<Held*>(self->private_data);
  }

  template <typename Stream>
  static int get_schema(Stream* self, ArrowSchema* out) {
    enter_callback("get_schema of a stream");
    auto& producer = of(self);
    if (producer.schema_code != 0) {
      producer.last_error = "no schema today";
      return producer.schema_code;
    }
    return arrowdevice_schema_copy(producer.schema.get(), out, nullptr);
  }

  // Does not write `out` if it fails, as some producers do.
  static int advance(Producer& producer, ArrowDeviceArray* out) {
    enter_callback("get_next of a stream");
    if (producer.inside.exchange(true)) producer.overlapped = true;
    if (std::this_thread::get_id() != producer.maker) producer.called_elsewhere = true;
    const int64_t call = producer.calls++;
    producer.on_next(call);
    producer.inside = false;
    if (call >= static_cast<int64_t>(producer.steps.size())) {
      out->array.release = nullptr;
      return 0;
    }
    auto& step = producer.steps[static_cast<size_t>(call)];
    if (step.code != 0) {
      producer.last_error = step.text;
      return step.code;
    }
    *out = step.array.take();
    return 0;
  }

  static int get_next(ArrowDeviceArrayStream* self, ArrowDeviceArray* out) { return advance(of(self), out); }
  static int get_next(ArrowArrayStream* self, ArrowArray* out) {
    ArrowDeviceArray array{};
    const int code = advance(of(self), &array);
    if (code == 0) *out = array.array;
    return code;
  }

  template <typename Stream>
  static const char* get_last_error(Stream* self) {
    enter_callback("get_last_error of a stream");
    const auto& text = of(self).last_error;
    return text.empty() ? nullptr : text.c_str();
  }

  template <typename Stream>
  static void release(Stream* self) {
    enter_callback("release of a stream");
    ++of(self).releases;
    delete static_cast<Held*>(self->private_data);
    self->release = nullptr;
  }

  template <typename Stream>
  static void fill(Stream* out, Held producer) {
    *out = Stream{};
    out->get_schema = &get_schema<Stream>;
    out->get_next = &get_next;
    out->get_last_error = &get_last_error<Stream>;
    out->release = &release<Stream>;
    out->private_data = new Held(std::move(producer));
  }
};

DeviceStream stream_of(std::shared_ptr<Producer> producer, ArrowDeviceType type) {
  DeviceStream stream;
  Producer::Callbacks::fill(stream.out(), std::move(producer));
  stream->device_type = type;
  return stream;
}

HostStream host_stream_of(std::shared_ptr<Producer> producer) {
  HostStream stream;
  Producer::Callbacks::fill(stream.out(), std::move(producer));
  return stream;
}

std::shared_ptr<Producer> batches_of(const Sample& sample, int64_t rows, arrowdevice_device* device) {
  auto producer = std::make_shared<Producer>(sample.type);
  ArrowDeviceArray& all = *const_cast<ArrowDeviceArray*>(sample.host.get());
  for (int64_t first = 0; first < all.array.length; first += rows) {
    Array batch = slice(all, *sample.schema, first, std::min(rows, all.array.length - first));
    if (device != nullptr && device != cpu()) batch = copy(*batch, *sample.schema, device);
    producer->steps.push_back({std::move(batch)});
  }
  return producer;
}

arrowdevice_stream_options stream_options(uint32_t flags, int32_t depth) {
  auto options = sized<arrowdevice_stream_options>();
  options.flags = flags;
  options.depth = depth;
  return options;
}

DeviceStream to_device(DeviceStream stream, arrowdevice_device* to, const arrowdevice_stream_options& options) {
  DeviceStream moved;
  must(arrowdevice_stream_to_device, stream.get(), to, &options, moved.out());
  REQUIRE(stream.released());
  return moved;
}

HostStream to_host(DeviceStream stream, const arrowdevice_stream_options& options) {
  HostStream host;
  must(arrowdevice_stream_to_host, stream.get(), &options, host.out());
  REQUIRE(stream.released());
  return host;
}

Array next(DeviceStream& stream) {
  Array array;
  const int code = stream->get_next(stream.get(), array.out());
  const char* text = code != 0 ? stream->get_last_error(stream.get()) : "";
  INFO((text != nullptr ? text : "no text"));
  REQUIRE(code == 0);
  return array;
}

Array next(HostStream& stream) {
  Owned<ArrowArray> array;
  const int code = stream->get_next(stream.get(), array.out());
  const char* text = code != 0 ? stream->get_last_error(stream.get()) : "";
  INFO((text != nullptr ? text : "no text"));
  REQUIRE(code == 0);
  return array.released() ? Array() : from_host(std::move(array));
}

namespace {

template <typename Out, typename Stream>
std::string fails(int code, Stream& stream) {
  Out array;
  CHECK(stream->get_next(stream.get(), array.out()) == code);
  CHECK(array.released());
  const char* text = stream->get_last_error(stream.get());
  return text != nullptr ? text : "";
}

template <typename Stream>
std::string rest(const Sample& sample, int64_t rows, Stream& stream, int64_t first) {
  const int64_t all = sample.host->array.length;
  for (; first < all; first += rows) {
    const Array array = next(stream);
    if (array.released()) return "it ends at row " + std::to_string(first);
    if (array->array.length != std::min(rows, all - first)) return "another length at row " + std::to_string(first);
    const std::string different = difference(sample, *array, first);
    if (!different.empty()) return "from row " + std::to_string(first) + ": " + different;
  }
  for (int i = 0; i < 2; ++i) {
    if (!next(stream).released()) return "it does not end";
  }
  return "";
}

}  // namespace

std::string next_fails(int code, DeviceStream& stream) { return fails<Array>(code, stream); }
std::string next_fails(int code, HostStream& stream) { return fails<Owned<ArrowArray>>(code, stream); }

std::string difference_of_rest(const Sample& sample, int64_t rows, DeviceStream& stream, int64_t first) {
  return rest(sample, rows, stream, first);
}
std::string difference_of_rest(const Sample& sample, int64_t rows, HostStream& stream, int64_t first) {
  return rest(sample, rows, stream, first);
}

void soil(ArrowDeviceArray& array) {
  array.device_id = 0;
  std::memset(array.reserved, 0x5c, sizeof array.reserved);
}

bool is_canonical_on_cpu(const ArrowDeviceArray& array) {
  constexpr decltype(ArrowDeviceArray::reserved) kZero{};
  return array.device_type == ARROW_DEVICE_CPU && array.device_id == -1 && array.sync_event == nullptr &&
         std::memcmp(array.reserved, kZero, sizeof kZero) == 0;
}

}  // namespace stream_test
