// SPDX-License-Identifier: Apache-2.0
// Reads streams of Arrow's IPC format: a schema, dictionaries and record batches, each message with its body. The
// library does not contain this code. The tool and the tests do.
#pragma once

#include <arrowdevice/abi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "array/output.h"
#include "ipc/batch_message.h"
#include "schema/build.h"

namespace arrowdevice::ipc {

// Bytes in host memory. The last owner frees them.
struct HostBytes : array::BufferOwner {
  uint8_t* address = nullptr;  // of a body: a multiple of 64
  int64_t size = 0;
};

// The bytes of a stream, in their order.
class Input {
 public:
  virtual ~Input() = default;

  // Returns the next bytes. Throws EINVAL if there are less, or if the size is negative.
  virtual std::shared_ptr<HostBytes> take(int64_t size) = 0;

  // Returns true if no byte is left.
  virtual bool is_at_end() = 0;
};

// Begins a message. Old streams do not have it.
inline constexpr uint32_t kContinuation = 0xFFFFFFFF;

class StreamReader {
 public:
  // Reads the schema. The input must outlive the reader. Throws EINVAL if the input is no stream, and ENOTSUP for what
  // the library does not read.
  explicit StreamReader(Input& input);

  // Returns the type of the batches.
  const ArrowSchema& schema() const noexcept { return schema_.get(); }

  // Reads the next record batch over the memory of its body, and the dictionaries before it. Returns false at the end
  // of the stream. Throws EINVAL with the path of the field, as array_over_body() does, and ENOTSUP for a dictionary
  // that is sent in parts. The data itself is not checked.
  bool next(ArrowArray* out);

 private:
  class BatchOwner;
  class Dictionary;

  struct Received {
    std::shared_ptr<HostBytes> metadata;  // NULL at the end of the stream
    std::shared_ptr<HostBytes> body;
  };
  Received receive();
  int32_t next_size();
  uint32_t next_number();
  void read_dictionary(const Batch& batch, const std::shared_ptr<HostBytes>& body);
  void make_array(const ArrowSchema& type, bool is_dictionary, size_t first, size_t n, const Batch& batch,
                  std::shared_ptr<HostBytes> body, ArrowArray* out) const;

  // A field that has a dictionary, in the order of dictionary_fields().
  struct Encoded {
    int64_t id;  // several fields may have the same
    const ArrowSchema* values;
    size_t n_below;  // fields in the values that have a dictionary
    std::shared_ptr<const Dictionary> dictionary = nullptr;
  };

  Input& input_;
  schema::UniqueSchema schema_;
  std::vector<Encoded> encoded_;
};

}  // namespace arrowdevice::ipc
