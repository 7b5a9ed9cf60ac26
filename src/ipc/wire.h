// SPDX-License-Identifier: Apache-2.0
// Numbers of Arrow's IPC format: the members of its flatbuffer tables, in their order, and the values of its
// enumerations. The format defines them in Message.fbs and Schema.fbs.
#pragma once

#include <cstdint>

namespace arrowdevice::ipc {

// Position of a member in its table.
using Slot = uint16_t;

namespace message {
enum : Slot { kVersion, kHeaderType, kHeader, kBodyLength, kMetadata };
}
namespace key_value {
enum : Slot { kKey, kValue };
}
namespace schema_table {
enum : Slot { kEndianness, kFields, kMetadata, kFeatures };
}
namespace field_table {
enum : Slot { kName, kNullable, kTypeTag, kType, kDictionary, kChildren, kMetadata };
}
namespace dictionary_encoding {
enum : Slot { kId, kIndexType, kIsOrdered, kKind };
}
namespace record_batch {
enum : Slot { kLength, kNodes, kBuffers, kCompression, kVariadicCounts };
}
namespace dictionary_batch {
enum : Slot { kId, kData, kIsDelta };
}
namespace compression {
enum : Slot { kCodec, kMethod };
}
// Members of type tables that need more than the table in types.cc.
namespace type_table {
enum : Slot { kTimeZone = 1, kTypeIds = 1 };
}

// The union of headers.
enum class MessageKind : uint8_t {
  kSchema = 1,
  kDictionaryBatch = 2,
  kRecordBatch = 3,
  kTensor = 4,
  kSparseTensor = 5
};

enum Version : int16_t { kVersion4 = 3, kVersion5 = 4 };

// The union of types.
enum class TypeTag : uint8_t {
  kNull = 1,
  kInt,
  kFloatingPoint,
  kBinary,
  kUtf8,
  kBool,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kInterval,
  kList,
  kStruct,
  kUnion,
  kFixedSizeBinary,
  kFixedSizeList,
  kMap,
  kDuration,
  kLargeBinary,
  kLargeUtf8,
  kLargeList,
  kRunEndEncoded,
  kBinaryView,
  kUtf8View,
  kListView,
  kLargeListView,
};

// The offset of each buffer in a body that the library writes is a multiple of this. The format demands 8.
inline constexpr int64_t kBodyAlignment = 64;
inline constexpr int64_t kLeastAlignment = 8;

}  // namespace arrowdevice::ipc
