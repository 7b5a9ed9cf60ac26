// SPDX-License-Identifier: Apache-2.0
// Reads a stream of another process.
#include <arrowdevice/arrowdevice.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "arguments.h"
#include "batches.h"
#include "command.h"
#include "json.h"
#include "terminal.h"

namespace arrowdevice::tool {
namespace {

using Clock = std::chrono::steady_clock;
using Micro = std::chrono::duration<double, std::micro>;

int run(const Arguments& arguments) {
  if (arguments.operands().size() != 1) throw arguments.error("expected the address of a server");
  const std::string& uri = arguments.operands().front();
  const auto devices = arguments.values("--device");
  const cpp::Device to = devices.empty() ? cpp::Device() : cpp::Device::find_by_name(devices.back());
  auto options = cpp::connect_options();
  if (arguments.has("--no-copy")) options.copy_flags = ARROWDEVICE_COPY_NEVER;
  const auto begin = Clock::now();
  cpp::DeviceArrayStream stream = cpp::connect(uri, to, options);
  const cpp::Schema type = stream.schema();
  Micro waited = Clock::now() - begin;  // without the time of the checks
  Totals totals;
  for (;;) {
    const auto asked = Clock::now();
    cpp::DeviceArray batch = stream.next();
    waited += Clock::now() - asked;
    if (!batch) break;
    batch.validate(type, ARROWDEVICE_VALIDATE_FULL);
    totals.add(view_of(std::move(batch), type).root());
  }
  if (arguments.has("--json")) {
    print_json({{"uri", json_string(uri)},
                {"rows", json_number(totals.rows)},
                {"batches", json_number(totals.batches)},
                {"columns", json_number(type->n_children)},
                {"bytes", json_number(totals.bytes)},
                {"us", json_number(waited.count())}});
  } else {
    std::printf("%s: %s\n", printable(uri).c_str(), text_of(totals, type->n_children).c_str());
    std::printf("All batches are valid. They were here after %.0f us.\n", waited.count());
  }
  return kSuccess;
}

constexpr std::array kOptions{
    kJson,
    Option{"--device", "DEVICE", "puts the batches on that device (default: where the server has them)"},
    Option{"--no-copy", "", "fails if a batch has to be copied"},
};

}  // namespace

const Command kFetch{
    .name = "fetch",
    .summary = "reads a stream of another process",
    .usage = "[OPTION...] URI",
    .about =
        "Connects to the server at URI, reads its batches, checks that they are valid, and prints their number\n"
        "and the time that they took. `arrowdevice serve` prints the addresses of its files.\n",
    .options = kOptions,
    .exit_code = "0 all batches are valid; 1 they are not, or the server failed; 2 wrong usage.",
    .operands = Words::kNone,
    .most_operands = 1,
    .run = run,
};

}  // namespace arrowdevice::tool
