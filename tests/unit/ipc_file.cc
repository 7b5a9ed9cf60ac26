// SPDX-License-Identifier: Apache-2.0
// Files of Arrow's IPC format: streams in a file, and files with a footer. Files that another program wrote are read in
// the tests of the Python package.
#include <sys/mman.h>

#include <fstream>
#include <string>

#include "base/file_descriptor.h"
#include "ipc/file_reader.h"
#include "ipc_batches.h"
#include "schema_refusal.h"

namespace {

using namespace library_test;  // NOLINT: what every line of these tests is written with
using namespace ipc_test;      // NOLINT: the same
using arrowdevice::ipc::FileReader;
using arrowdevice::schema::is_refused;
using arrowdevice::schema::Refusal;
using arrowdevice::schema::refusal_by;

// A file in memory, which is gone with the object.
class TemporaryFile {
 public:
  const std::string& path() const { return path_; }

  void write(std::span<const uint8_t> bytes) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(file.flush());
  }

 private:
  const arrowdevice::FileDescriptor file_{memfd_create("file", MFD_CLOEXEC)};
  const std::string path_ = "/proc/self/fd/" + std::to_string(file_.get());
};

// Returns the stream with a magic before it, and a footer after it, whose content the reader does not use.
Bytes with_footer(const Bytes& stream) {
  Bytes file{'A', 'R', 'R', 'O', 'W', '1', 0, 0};
  file.insert(file.end(), stream.begin(), stream.end());
  const Bytes tail{0x5C, 0x5C, 0x5C, 0x5C, 4, 0, 0, 0, 'A', 'R', 'R', 'O', 'W', '1'};
  file.insert(file.end(), tail.begin(), tail.end());
  return file;
}

Bytes sample_stream(const SentBatch& sent) {
  return write_stream(*sent.schema, {&sent.array->array, &sent.array->array});
}

SentBatch sample() {
  const auto cases = asked_cases();
  const auto found = std::ranges::find_if(
      cases, [](const HostCase& one) { return is_writable(one.type) && one.name.find("dictionary") != one.name.npos; });
  REQUIRE(found != cases.end());
  return SentBatch(*found);
}

void check_same(const SentBatch& sent, const std::string& path) {
  FileReader reader(path);
  int batches = 0;
  for (Owned<ArrowArray> batch; reader.next(batch.out()); ++batches) {
    CHECK(difference(*sent.schema, sent.original->array, reader.schema(), *batch) == "");
    batch = {};
  }
  CHECK(batches == 2);
}

// Reads all. Returns the error, or a code of 0.
Refusal read_all(const std::string& path) {
  return refusal_by([&] {
    FileReader reader(path);
    for (Owned<ArrowArray> batch; reader.next(batch.out()); batch = {}) {
    }
  });
}

TEST_CASE("a stream in a file and a file with a footer give the same batches") {
  begin();
  const SentBatch sent = sample();
  const TemporaryFile file;
  const Bytes stream = sample_stream(sent);
  file.write(stream);
  check_same(sent, file.path());
  file.write(with_footer(stream));
  check_same(sent, file.path());
  // Without the mark of its end, the footer follows the last batch.
  file.write(with_footer(Bytes(stream.begin(), stream.end() - 8)));
  check_same(sent, file.path());
}

TEST_CASE("a file that is cut anywhere is refused, or has fewer batches") {
  begin();
  const SentBatch sent = sample();
  const TemporaryFile file;
  for (const Bytes& whole : {sample_stream(sent), with_footer(sample_stream(sent))}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      file.write(std::span(whole).first(size));
      const Refusal refusal = read_all(file.path());
      const bool is_known = refusal.code == 0 || refusal.code == EINVAL;
      if (!is_known || (refusal.code != 0 && refusal.message.find(file.path()) == std::string::npos)) {
        FAIL_CHECK("cut to " << size << " bytes: " << refusal.code << " " << refusal.message);
      }
    }
  }
}

TEST_CASE("a dictionary of several fields must fit each of their types") {
  begin();
  const Field narrow = dictionary_of("i", field("C")).named("a"), wide = dictionary_of("i", field("l")).named("b");
  const HostCase one{.name = "", .type = struct_of({narrow, wide}).not_null(), .knobs = kPlain};
  const SentBatch sent(one);
  Bytes stream = sample_stream(sent);
  // The schema has the id 1 in one of these bytes. With 0 there, both fields have the dictionary of bytes.
  const auto end_of_schema = static_cast<size_t>(stream[4] | stream[5] << 8);
  int refused = 0;
  const TemporaryFile file;
  for (size_t i = 8; i < end_of_schema; ++i) {
    if (stream[i] != 1) continue;
    stream[i] = 0;
    file.write(stream);
    refused += contains(read_all(file.path()).message, "dictionary 0: array: the data buffer with offset 64");
    stream[i] = 1;
  }
  CHECK(refused == 1);
}

TEST_CASE("what is no Arrow file is refused with the reason") {
  begin();
  const TemporaryFile file;
  const auto refused = [&](std::string_view content, int code, const char* reason) {
    file.write({reinterpret_cast<const uint8_t*>(content.data()), content.size()});
    CHECK(is_refused(read_all(file.path()), code, reason));
  };
  refused("", EINVAL, "it is empty");
  refused("abc", EINVAL, "it is no file of Arrow's IPC format");
  refused(std::string(100, '\0'), EINVAL, "it has no schema");
  refused("PAR1\x15\x04\x15", EINVAL, "it is a Parquet file");
  refused("FEA1\x15\x04\x15", ENOTSUP, "a Feather file of version 1");
  refused("item,price\na,1.5\n", EINVAL, "it is no file of Arrow's IPC format");
  refused("ARROW1", EINVAL, "it ends before its footer");
  refused(std::string_view("ARROW1\0\0\0\0\0\0\0\0\0\0\0\0", 18), EINVAL, "it does not end with \"ARROW1\"");
  refused(std::string_view("ARROW1\0\0\xFF\xFF\xFF\x7F"
                           "ARROW1",
                           18),
          EINVAL, "its footer has 2147483647 bytes");
  refused(std::string_view("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 8), EINVAL, "it ends in a message");
  refused(std::string_view("\xFF\xFF\xFF\xFF\0\0\0\x80", 8), EINVAL, "a message has -2147483648 bytes");
  CHECK(is_refused(read_all("/tmp"), EINVAL, "/tmp: it is not a regular file"));
  CHECK(is_refused(read_all(file.path() + ".none"), ENOENT, "No such file or directory"));
}

}  // namespace
