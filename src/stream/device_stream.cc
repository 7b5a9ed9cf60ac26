// SPDX-License-Identifier: Apache-2.0
#include "stream/device_stream.h"

#include <arrowdevice/arrowdevice.h>

#include <atomic>
#include <cerrno>
#include <type_traits>

#include "schema/metadata.h"

namespace arrowdevice::stream {
namespace {

constexpr const char* kCancelled = "the stream was cancelled";

void hand_over(const ArrowDeviceArray& array, ArrowDeviceArray* out) noexcept { *out = array; }
void hand_over(const ArrowDeviceArray& array, ArrowArray* out) noexcept { *out = array.array; }

}  // namespace

Metadata copy_metadata(const char* encoded) {
  if (encoded == nullptr) return std::nullopt;
  return std::string(encoded, static_cast<size_t>(schema::metadata_size(encoded)));
}

Metadata copy_error_metadata(const char* encoded) noexcept {
  try {
    return copy_metadata(encoded);
  } catch (...) {
    return std::nullopt;
  }
}

// The private_data of a stream of the library.
template <typename Published>
struct Publication<Published>::Handed {
  using Array = std::conditional_t<std::is_same_v<Published, ArrowArrayStream>, ArrowArray, ArrowDeviceArray>;

  std::unique_ptr<DeviceStream> stream;
  Failure last;            // of the last call of get_schema or get_next
  Failure final;           // of get_next, which fails with this from then on
  Metadata item_metadata;  // of the array, end or error that get_next returned last
  bool has_ended = false;
  std::atomic<bool> is_cancelled{false};

  static Handed& of(Published* stream) noexcept { return *static_cast<Handed*>(stream->private_data); }

  static int get_schema(Published* self, ArrowSchema* out) noexcept {
    auto& handed = of(self);
    *out = ArrowSchema{};
    try {
      handed.stream->schema(out);
      return 0;
    } catch (...) {
      handed.last = Failure::current();
      return handed.last.code();
    }
  }

  static int get_next(Published* self, Array* out) noexcept {
    auto& handed = of(self);
    *out = Array{};
    if (handed.has_ended) return 0;
    if (!handed.final) handed.advance(out);
    if (!handed.final) return 0;
    handed.last = handed.final;
    return handed.final.code();
  }

  void advance(Array* out) noexcept {
    try {
      ArrowDeviceArray array{};
      item_metadata.reset();
      if (is_cancelled) throw Error(ECANCELED, kCancelled);
      if (stream->next(&array, item_metadata)) {
        hand_over(array, out);
      } else {
        has_ended = true;
      }
    } catch (...) {
      final = is_cancelled ? Failure(ECANCELED, kCancelled) : Failure::current();
    }
  }

  static const char* get_last_error(Published* self) noexcept { return of(self).last.text(); }

  static void release(Published* self) noexcept {
    delete &of(self);
    self->release = nullptr;
    self->private_data = nullptr;
  }
};

template <typename Published>
Publication<Published>::Publication(std::unique_ptr<DeviceStream> stream) : handed_(std::make_unique<Handed>()) {
  handed_->stream = std::move(stream);
}

template <typename Published>
Publication<Published>::~Publication() = default;

template <typename Published>
void Publication<Published>::publish(Published* out) noexcept {
  *out = Published{};
  out->get_schema = Handed::get_schema;
  out->get_next = Handed::get_next;
  out->get_last_error = Handed::get_last_error;
  out->release = Handed::release;
  out->private_data = handed_.release();
}

template class Publication<ArrowDeviceArrayStream>;
template class Publication<ArrowArrayStream>;

void publish_on(ArrowDeviceType type, Publication<ArrowDeviceArrayStream>& publication,
                ArrowDeviceArrayStream* out) noexcept {
  publication.publish(out);
  out->device_type = type;
}

bool is_own(const ArrowDeviceArrayStream& stream) noexcept {
  return stream.release == Publication<ArrowDeviceArrayStream>::Handed::release;
}

const char* metadata_of(ArrowDeviceArrayStream& stream, int32_t kind) noexcept {
  if (!is_own(stream)) return nullptr;
  const auto& handed = Publication<ArrowDeviceArrayStream>::Handed::of(&stream);
  return kind == ARROWDEVICE_METADATA_ITEM ? encoded(handed.item_metadata) : handed.stream->metadata();
}

const Failure* last_failure(ArrowDeviceArrayStream& stream) noexcept {
  return is_own(stream) ? &Publication<ArrowDeviceArrayStream>::Handed::of(&stream).last : nullptr;
}

const Failure* last_failure(ArrowArrayStream& stream) noexcept {
  using Handed = Publication<ArrowArrayStream>::Handed;
  return stream.release == Handed::release ? &Handed::of(&stream).last : nullptr;
}

bool cancel(ArrowDeviceArrayStream& stream) noexcept {
  if (!is_own(stream)) return false;
  auto& handed = Publication<ArrowDeviceArrayStream>::Handed::of(&stream);
  handed.is_cancelled = true;
  handed.stream->cancel();
  return true;
}

}  // namespace arrowdevice::stream
