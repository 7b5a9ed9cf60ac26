// SPDX-License-Identifier: Apache-2.0
// Compares copies, imports and validation on the CPU with `memcpy`, nanoarrow and Arrow C++, in turns in one process.
// It fails if a result has other values than the batch.
//
//   bench-peers [--quick] [--json=FILE] [NAME...]
//
// A NAME is a part of the names of cases; without one, all cases run. --quick makes one turn, and leaves out large
// batches.
#include "peers.h"

#include <malloc.h>

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "peer_results.h"
#include "plain_copies.h"
#include "sample_texts.h"

namespace arrowdevice::bench {
namespace {

constexpr int64_t kMillion = 1'000'000;
constexpr int64_t kRows = 100;
constexpr int64_t kLastRows = 10;

// A column of texts of ten bytes.
class TextColumn : public RecordBatch {
 public:
  static constexpr size_t kTextBytes = 10;

  explicit TextColumn(int64_t rows) { set_columns(rows, {&add_texts(rows)}); }
};

// Works that have the same result, and the batch that they use.
struct Comparison {
  std::shared_ptr<const RecordBatch> batch;
  std::vector<std::pair<const char*, Work>> works;
  std::optional<size_t> bytes = {};  // that a validation reads
};

Work plain_copy(const std::vector<Bytes>& buffers) {
  return [buffers, touched = std::make_shared<AlignedVector<char>>(touched_memory(buffers))] {
    copy_plainly(buffers, *touched);
  };
}

Comparison copies(std::shared_ptr<const RecordBatch> batch) {
  const RecordBatch& of = *batch;
  return {std::move(batch),
          {{kMemcpy, plain_copy(of.buffers())},
           {kLibrary, library::copy(of)},
           {kNanoarrow, nanoarrow::copy(of)},
           {kArrowCpp, arrow_cpp::copy(of)}}};
}

Comparison copies_of_columns(int64_t columns, int64_t rows) {
  return copies(std::make_shared<const Batch>(columns, rows));
}

// The bytes of the last rows differ between the buffers of a column.
Comparison copies_of_last_rows(std::shared_ptr<const RecordBatch> batch, const std::vector<size_t>& bytes_of_buffers) {
  std::vector<Bytes> ends;
  for (const Bytes& buffer : batch->buffers()) {
    const size_t bytes = bytes_of_buffers[ends.size() % bytes_of_buffers.size()];
    ends.push_back({static_cast<const char*>(buffer.data) + buffer.size - bytes, bytes});
  }
  return {batch,
          {{kMemcpy, plain_copy(ends)},
           {kLibrary, library::copy_last_rows(*batch, kLastRows)},
           {kNanoarrow, nanoarrow::copy_last_rows(*batch, kLastRows)},
           {kArrowCpp, arrow_cpp::copy_last_rows(*batch, kLastRows)}}};
}

Comparison copies_into_new_memory() {
  const auto batch = std::make_shared<const Batch>(8, 4 * kMillion);
  return {batch,
          {{kMemcpy, [&of = *batch] { copy_plainly_by_threads(of); }},
           {kLibrary, library::copy_into_new_memory(*batch)},
           {kNanoarrow, nanoarrow::copy(*batch)},
           {kArrowCpp, arrow_cpp::copy(*batch)}}};
}

Comparison imports(int64_t columns) {
  const auto batch = std::make_shared<const Batch>(columns, kRows);
  return {batch,
          {{kLibrary, library::import(*batch)},
           {kNanoarrow, nanoarrow::import(*batch)},
           {kArrowCpp, arrow_cpp::import(*batch)}}};
}

// Returns the validation of a batch by a peer. Throws an exception if it does not fail for the spoiled batch.
Work checked_validation(const char* peer, Work (*validation)(const RecordBatch&), const RecordBatch& batch,
                        const RecordBatch& spoiled) {
  try {
    validation(spoiled);
  } catch (const std::runtime_error&) {
    return validation(batch);
  }
  throw std::runtime_error(std::string(peer) + " accepts bytes that are no UTF-8");
}

Comparison validations(SampleTexts::Layout layout, std::string_view sample, size_t text_bytes) {
  const auto batch = std::make_shared<const SampleTexts>(layout, sample, text_bytes, SampleTexts::Content::kValid);
  const SampleTexts spoiled(layout, sample, text_bytes, SampleTexts::Content::kSpoiled);
  return {batch,
          {{kMemcpy, plain_copy(batch->buffers())},
           {kLibrary, checked_validation(kLibrary, library::validate, *batch, spoiled)},
           {kArrowCpp, checked_validation(kArrowCpp, arrow_cpp::validate, *batch, spoiled)}},
          batch->bytes()};
}

// -- The cases --------------------------------------------------------------------------------------------------------

struct Case {
  const char* name;
  Comparison (*make)();
  const char* yardstick;
  Bound warm;
  Bound cold;
  bool is_large = false;
};

const Case kCases[] = {
    {"copy 1000 x 100 int64", [] { return copies_of_columns(1'000, kRows); }, kMemcpy, {.ratio = 2}, {}},
    {"copy 600 varied x 100",
     [] { return copies(std::make_shared<const Varied>(600, kRows)); },
     kMemcpy,
     {.ratio = 3},
     {}},
    {"copy 8 x 100 int64", [] { return copies_of_columns(8, kRows); }, kMemcpy, {.ratio = 3}, {}},
    {"copy the last 10 rows of 8 x 1M int64",
     [] { return copies_of_last_rows(std::make_shared<const Batch>(8, kMillion), {kLastRows * sizeof(int64_t)}); },
     kMemcpy,
     {},
     {.microseconds = 12}},
    {"copy the last 10 rows of 10M utf8",
     [] {
       return copies_of_last_rows(std::make_shared<const TextColumn>(10 * kMillion),
                                  {(kLastRows + 1) * sizeof(int32_t), kLastRows * TextColumn::kTextBytes});
     },
     kMemcpy,
     {},
     {}},
    {"copy 8 x 1M int64", [] { return copies_of_columns(8, kMillion); }, kMemcpy, {.ratio = 1.05}, {}, true},
    {"copy 10M utf8",
     [] { return copies(std::make_shared<const TextColumn>(10 * kMillion)); },
     kMemcpy,
     {.ratio = 1.05},
     {},
     true},
    {"copy 8 x 4M int64 into new memory", copies_into_new_memory, kMemcpy, {.ratio = 1.05}, {}, true},
    {"import 8 columns", [] { return imports(8); }, kNanoarrow, {}, {.ratio = 1}},
    {"import 108 columns", [] { return imports(108); }, kNanoarrow, {}, {}},
    {"import 1000 columns", [] { return imports(1'000); }, kNanoarrow, {.ratio = 0.5}, {}},
};

// Characters of one to four bytes in UTF-8.
const std::map<std::string_view, std::string_view> kSamples = {
    {"ASCII", "The quick brown fox jumps over the lazy dog. "},
    {"Cyrillic", "Съешьжеещёэтихмягкихфранцузскихбулокдавыпейчаю"},
    {"Japanese", "いろはにほへとちりぬるを我々は文字の並びを検査する"},
    {"emoji", "😀😁😂🤣😃😄😅😆😉😊😋😎"},
    {"mixed", "Größe: 5 m², naïve café, 東京, привет 😀 and plain words "},
};

struct Validation {
  const char* kind;
  SampleTexts::Layout layout;
  size_t text_bytes;
  const char* sample;
};

constexpr auto kTexts = SampleTexts::Layout::kOffsets;
constexpr auto kViews = SampleTexts::Layout::kViews;
const Validation kValidations[] = {
    {"texts", kTexts, 100, "ASCII"}, {"texts", kTexts, 100, "Cyrillic"}, {"texts", kTexts, 100, "Japanese"},
    {"texts", kTexts, 100, "emoji"}, {"texts", kTexts, 100, "mixed"},    {"texts", kTexts, 8, "ASCII"},
    {"texts", kTexts, 8, "mixed"},   {"views", kViews, 8, "ASCII"},      {"views", kViews, 20, "mixed"},
    {"views", kViews, 100, "ASCII"},
};

// The points of the curve over the number of columns.
constexpr int64_t kColumns[] = {1, 3, 10, 30, 100, 300, 1'000, 3'000, 10'000, 30'000, 100'000};

// -- The program ------------------------------------------------------------------------------------------------------

struct Options {
  bool quick = false;
  std::optional<std::string> json;
  std::vector<std::string_view> names;

  bool selects(std::string_view name) const {
    for (const auto part : names) {
      if (name.find(part) != name.npos) return true;
    }
    return names.empty();
  }
};

Options read(std::span<char* const> arguments) {
  constexpr std::string_view kJson = "--json=";
  Options options;
  for (const std::string_view argument : arguments) {
    if (argument == "--quick") {
      options.quick = true;
    } else if (argument.starts_with(kJson)) {
      options.json = argument.substr(kJson.size());
    } else if (argument.starts_with("--")) {
      throw std::runtime_error("there is no option " + std::string(argument));
    } else {
      options.names.push_back(argument);
    }
  }
  return options;
}

// Makes the time of each work independent of the blocks that other works have freed.
void separate_works_in_the_heap() {
  // glibc returns the memory of a call to the system only if its blocks happen to be at the heap's end.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  // The next large allocation merges small freed blocks, and may belong to another work. Without fast bins, each free
  // merges its own block.
  mallopt(M_MXFAST, 0);
}

class Program {
 public:
  explicit Program(Options options) : options_(std::move(options)) {}

  void run() {
    for (const Case& one : kCases) measure(one);
    for (const Validation& one : kValidations) measure(one);
    for (const int64_t columns : kColumns) measure_point(columns);
    if (options_.json) {
      results_.write(*options_.json, {{kNanoarrow, nanoarrow::version()}, {kArrowCpp, arrow_cpp::version()}});
    }
  }

 private:
  using Time = std::vector<double> (*)(const std::vector<Work>&, const Effort&);

  void measure(const Case& one) {
    const std::string name = one.name;
    if (!options_.selects(name) || (options_.quick && one.is_large)) return;
    const Comparison comparison = one.make();
    measure(name + ", warm", comparison, time_warm, one.yardstick, one.warm);
    measure(name + ", caches evicted", comparison, time_cold, one.yardstick, one.cold);
  }

  void measure(const Validation& one) {
    const std::string name =
        "validate " + std::string(one.kind) + " of " + std::to_string(one.text_bytes) + " bytes, " + one.sample;
    if (!options_.selects(name)) return;
    const Comparison comparison = validations(one.layout, kSamples.at(one.sample), one.text_bytes);
    measure(name, comparison, time_warm, kArrowCpp, {.ratio = 1});
  }

  void measure_point(int64_t columns) {
    const std::string name = "columns/columns:" + std::to_string(columns);
    if (!options_.selects(name)) return;
    measure(name, copies_of_columns(columns, kRows), time_warm, kMemcpy, {});
  }

  void measure(std::string name, const Comparison& comparison, Time time, const char* yardstick, const Bound& bound) {
    std::vector<Work> works;
    for (const auto& [by, work] : comparison.works) works.push_back(work);
    const auto seconds = time(works, options_.quick ? Effort{1, 0} : Effort{31, 3});
    Result result{std::move(name), yardstick, bound, comparison.bytes, {}};
    for (size_t i = 0; i < works.size(); ++i) result.microseconds[comparison.works[i].first] = seconds[i] * 1e6;
    results_.add(std::move(result));
  }

  const Options options_;
  Results results_;
};

}  // namespace
}  // namespace arrowdevice::bench

int main(int argc, char** argv) {
  using namespace arrowdevice::bench;  // NOLINT: this is their program
  separate_works_in_the_heap();
  try {
    Program(read(std::span(argv, static_cast<size_t>(argc)).subspan(1))).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-peers: %s\n", error.what());
    return 1;
  }
  return 0;
}
