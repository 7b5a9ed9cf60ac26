// SPDX-License-Identifier: Apache-2.0
#include "link/handle_message.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "base/text.h"
#include "link/parts.h"

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

Header read_header(PartReader& reader) {
  if (reader.left().size() < sizeof(Header)) {
    throw Error(EINVAL, "a handle has at least " + bytes_text(sizeof(Header)) + ", and these are " +
                            bytes_text(reader.left().size()));
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

HandleMessage::HandleMessage(const device::Device& device) : device_type(device.type()), device_id(device.id()) {
  std::memcpy(device_uuid, device.info().uuid, sizeof device_uuid);
}

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
  PartWriter writer(sizeof header + message.allocations.size() * sizeof(Allocation) +
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
  PartReader reader(bytes, "the handle");
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
  if (!reader.left().empty()) {
    throw Error(EINVAL, "the handle has " + bytes_text(reader.left().size()) + " too many");
  }
  return message;
}

}  // namespace arrowdevice::link
