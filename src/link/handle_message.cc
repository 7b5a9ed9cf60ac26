// SPDX-License-Identifier: Apache-2.0
#include "link/handle_message.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/checked.h"
#include "base/text.h"

namespace arrowdevice::link {
namespace {

constexpr char kMagic[8] = {'A', 'R', 'R', 'O', 'W', 'D', 'E', 'V'};
constexpr uint32_t kVersion = 1;

// All numbers are little-endian. The parts follow in the order of their counts.
struct Header {
  char magic[sizeof kMagic];
  uint32_t version;
  int32_t device_type;
  int64_t device_id;
  uint8_t device_uuid[16];
  int64_t n_allocations, n_nodes, n_buffers, schema_bytes;
};
struct Allocation {
  int32_t kind, descriptor;
  uint32_t memory_type, reserved;
  int64_t size;
  uint8_t driver_uuid[16];
  uint8_t bytes[72];
};
static_assert(sizeof(Header) == 72 && sizeof(Allocation) == 112);
static_assert(sizeof(MessageNode) == 32 && sizeof(MessageBuffer) == 24);
static_assert(sizeof Allocation::bytes == sizeof arrowdevice_memory_record::bytes);

class Writer {
 public:
  explicit Writer(size_t size) { bytes_.reserve(size); }

  template <typename Part>
  void add(const Part* parts, size_t count) {
    static_assert(std::is_trivially_copyable_v<Part>);
    const auto* const first = reinterpret_cast<const uint8_t*>(parts);
    bytes_.insert(bytes_.end(), first, first + count * sizeof(Part));
  }

  std::vector<uint8_t> take() noexcept { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : left_(bytes) {}

  template <typename Part>
  std::vector<Part> take(int64_t count, const char* name) {
    const auto most = static_cast<int64_t>(left_.size() / sizeof(Part));
    if (count < 0 || count > most) {
      throw Error(EINVAL, "the handle has " + std::to_string(count) + " " + name + " (at most " + std::to_string(most) +
                              " fit its bytes)");
    }
    std::vector<Part> parts(static_cast<size_t>(count));
    const size_t size = parts.size() * sizeof(Part);
    if (size > 0) std::memcpy(parts.data(), left_.data(), size);
    left_ = left_.subspan(size);
    return parts;
  }

  size_t left() const noexcept { return left_.size(); }

 private:
  std::span<const uint8_t> left_;
};

Allocation to_wire(const arrowdevice_memory_record& record) {
  Allocation wire{};
  wire.kind = record.kind;
  wire.descriptor = record.descriptor;
  wire.memory_type = record.memory_type;
  wire.size = record.size;
  std::memcpy(wire.driver_uuid, record.driver_uuid, sizeof wire.driver_uuid);
  std::memcpy(wire.bytes, record.bytes, sizeof wire.bytes);
  return wire;
}

arrowdevice_memory_record from_wire(const Allocation& wire, const uint8_t (&device_uuid)[16]) {
  arrowdevice_memory_record record{};
  record.struct_size = sizeof record;
  record.kind = wire.kind;
  record.descriptor = wire.descriptor;
  record.memory_type = wire.memory_type;
  record.size = wire.size;
  std::memcpy(record.device_uuid, device_uuid, sizeof record.device_uuid);
  std::memcpy(record.driver_uuid, wire.driver_uuid, sizeof wire.driver_uuid);
  std::memcpy(record.bytes, wire.bytes, sizeof wire.bytes);
  return record;
}

Header read_header(Reader& reader) {
  if (reader.left() < sizeof(Header)) {
    throw Error(EINVAL,
                "a handle has at least " + bytes_text(sizeof(Header)) + ", and these are " + bytes_text(reader.left()));
  }
  const Header header = reader.take<Header>(1, "headers").front();
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) throw Error(EINVAL, "the bytes are no handle");
  if (header.version != kVersion) {
    throw Error(ENOTSUP, "the handle has version " + std::to_string(header.version) + ", and the library reads " +
                             std::to_string(kVersion));
  }
  return header;
}

}  // namespace

std::vector<uint8_t> write_handle(const HandleMessage& message) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.device_type = message.device_type;
  header.device_id = message.device_id;
  std::memcpy(header.device_uuid, message.device_uuid, sizeof header.device_uuid);
  header.n_allocations = std::ssize(message.allocations);
  header.n_nodes = std::ssize(message.nodes);
  header.n_buffers = std::ssize(message.buffers);
  header.schema_bytes = std::ssize(message.schema);
  Writer writer(sizeof header + message.allocations.size() * sizeof(Allocation) +
                message.nodes.size() * sizeof(MessageNode) + message.buffers.size() * sizeof(MessageBuffer) +
                message.schema.size());
  writer.add(&header, 1);
  for (const auto& record : message.allocations) {
    const Allocation wire = to_wire(record);
    writer.add(&wire, 1);
  }
  writer.add(message.nodes.data(), message.nodes.size());
  writer.add(message.buffers.data(), message.buffers.size());
  writer.add(message.schema.data(), message.schema.size());
  return writer.take();
}

HandleMessage read_handle(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  const Header header = read_header(reader);
  HandleMessage message;
  message.device_type = header.device_type;
  message.device_id = header.device_id;
  std::memcpy(message.device_uuid, header.device_uuid, sizeof message.device_uuid);
  for (const auto& wire : reader.take<Allocation>(header.n_allocations, "allocations")) {
    message.allocations.push_back(from_wire(wire, header.device_uuid));
  }
  message.nodes = reader.take<MessageNode>(header.n_nodes, "nodes");
  message.buffers = reader.take<MessageBuffer>(header.n_buffers, "buffers");
  message.schema = reader.take<uint8_t>(header.schema_bytes, "bytes of a schema");
  if (reader.left() > 0) throw Error(EINVAL, "the handle has " + bytes_text(reader.left()) + " too many");
  return message;
}

}  // namespace arrowdevice::link
