// SPDX-License-Identifier: Apache-2.0
#include "opencl/copy.h"

#include <algorithm>
#include <cerrno>

#include "opencl/native_kernel.h"
#include "opencl/query.h"
#include "opencl/scatter.h"

namespace arrowdevice::opencl {
namespace {

std::byte* host_place(const void* memory, int64_t offset) {
  if (memory == nullptr || offset < 0) throw Error(EINVAL, "a region that lies nowhere in host memory");
  return static_cast<std::byte*>(const_cast<void*>(memory)) + offset;
}

// Small pieces of a buffer are read by one command if there are several. The range that it reads has gaps of limited
// size. The CPU copies a piece of the largest size in about the time of a command.
constexpr size_t kLeastScattered = 8;
constexpr size_t kLargestScattered = 64 << 10;
constexpr size_t kLargestGap = 64 << 10;
constexpr size_t kLargestBlock = 4 << 20;

cl_mem buffer_of(const void* buffer) { return static_cast<cl_mem>(const_cast<void*>(buffer)); }

}  // namespace

void Copy::enqueue(std::span<const arrowdevice_backend_region> regions) {
  host_pieces_.reserve(regions.size());
  {
    OwnBuffers::Reader buffers;
    for (const auto& region : regions) sort_in(buffers, region, &region - regions.data());
  }
  for (const auto& piece : device_pieces_) enqueue_device_piece(piece);
  enqueue_host_pieces();
}

// Throws EINVAL unless the buffer is in the queue's context. All devices of a context can access its buffers.
void Copy::check_context(const void* device) const {
  if (static_cast<const Device*>(device)->context() != device_.context()) {
    throw Error(EINVAL, "a region is in another OpenCL context than the queue");
  }
}

void Copy::sort_in(OwnBuffers::Reader& buffers, const arrowdevice_backend_region& region, int64_t number) {
  if (region.size <= 0) throw Error(EINVAL, format("a region of %lld bytes", static_cast<long long>(region.size)));
  const auto size = static_cast<size_t>(region.size);
  for (const auto* device : {region.dst_device, region.src_device}) {
    if (device != nullptr) check_context(device);
  }
  if (region.dst_device != nullptr && region.src_device != nullptr) {
    const auto to = buffers.resolve(buffer_of(region.dst), number, region.dst_offset, region.size);
    const auto from = buffers.resolve(buffer_of(region.src), number, region.src_offset, region.size);
    device_pieces_.push_back({to.parent, from.parent, to.offset, from.offset, size});
  } else if (region.dst_device != nullptr) {
    const auto to = buffers.resolve(buffer_of(region.dst), number, region.dst_offset, region.size);
    add({to.parent, to.offset, host_place(region.src, region.src_offset), size, false});
  } else if (region.src_device != nullptr) {
    const auto from = buffers.resolve(buffer_of(region.src), number, region.src_offset, region.size);
    add({from.parent, from.offset, host_place(region.dst, region.dst_offset), size, true});
  } else {
    throw Error(ENOTSUP, "an OpenCL queue does not copy from host memory to host memory");
  }
}

// Merges pieces that are adjacent at both ends.
void Copy::add(const HostPiece& piece) {
  if (!host_pieces_.empty()) {
    auto& last = host_pieces_.back();
    if (last.buffer == piece.buffer && last.to_host == piece.to_host && last.offset + last.size == piece.offset &&
        last.host + last.size == piece.host) {
      last.size += piece.size;
      return;
    }
  }
  host_pieces_.push_back(piece);
}

void Copy::enqueue_host_pieces() {
  if (device_.properties().submission == Submission::kCommands) {
    enqueue_commands(host_pieces_);
    return;
  }
  // Uses one kernel for each buffer, because PoCL 3.1 gives a native kernel only the address of its first buffer.
  std::ranges::stable_sort(host_pieces_, std::less<>(), &HostPiece::buffer);
  const std::span<const HostPiece> all(host_pieces_);
  for (size_t first = 0; first < all.size();) {
    size_t end = first + 1;
    while (end < all.size() && all[end].buffer == all[first].buffer) ++end;
    const auto pieces = all.subspan(first, end - first);
    if (pieces.size() == 1) {
      enqueue_command(pieces.front());
    } else {
      enqueue_kernel(pieces);
    }
    first = end;
  }
}

void Copy::enqueue_commands(std::span<const HostPiece> pieces) {
  ScatteredReads reads(device_.context(), queue_, pending_);
  for (size_t first = 0; first < pieces.size();) {
    const auto run = pieces.subspan(first, scattered_run(pieces.subspan(first)));
    if (run.size() < kLeastScattered) {
      for (const auto& piece : run) enqueue_command(piece);
    } else {
      std::vector<ScatteredReads::Piece> scattered;
      for (const auto& piece : run) scattered.push_back({piece.offset, piece.host, piece.size});
      reads.enqueue(run.front().buffer, std::move(scattered));
    }
    first += run.size();
  }
  reads.finish();
}

// Returns how many of the first pieces one command reads, at least 1.
size_t Copy::scattered_run(std::span<const HostPiece> pieces) {
  const auto is_small = [](const HostPiece& piece) { return piece.to_host && piece.size <= kLargestScattered; };
  const auto& first = pieces.front();
  if (!is_small(first)) return 1;
  size_t n = 1;
  for (size_t end = first.offset + first.size; n < pieces.size(); ++n) {
    const auto& piece = pieces[n];
    if (!is_small(piece) || piece.buffer != first.buffer || piece.offset < end || piece.offset - end > kLargestGap ||
        piece.offset + piece.size - first.offset > kLargestBlock) {
      break;
    }
    end = piece.offset + piece.size;
  }
  return n;
}

void Copy::enqueue_command(const HostPiece& piece) {
  cl_event done = nullptr;
  if (piece.to_host) {
    check("clEnqueueReadBuffer", api().clEnqueueReadBuffer(queue_, piece.buffer, CL_FALSE, piece.offset, piece.size,
                                                           piece.host, 0, nullptr, &done));
  } else {
    check("clEnqueueWriteBuffer", api().clEnqueueWriteBuffer(queue_, piece.buffer, CL_FALSE, piece.offset, piece.size,
                                                             piece.host, 0, nullptr, &done));
  }
  pending_.add(Owned<cl_event>::wrap(done));
}

void Copy::enqueue_kernel(std::span<const HostPiece> pieces) {
  // Some drivers check this for other commands, but not for native kernels.
  if (ask_buffer<cl_context>(pieces.front().buffer, CL_MEM_CONTEXT) != device_.context()) {
    throw Error(EINVAL, "a cl_mem is of another OpenCL context than the queue");
  }
  NativeCopy kernel(pieces.size());
  for (const auto& piece : pieces) kernel.add(piece.offset, piece.host, piece.size, piece.to_host);
  pending_.add(kernel.enqueue(queue_, pieces.front().buffer));
}

void Copy::enqueue_device_piece(const DevicePiece& piece) {
  cl_event done = nullptr;
  check("clEnqueueCopyBuffer", api().clEnqueueCopyBuffer(queue_, piece.from, piece.to, piece.from_offset,
                                                         piece.to_offset, piece.size, 0, nullptr, &done));
  pending_.add(Owned<cl_event>::wrap(done));
}

}  // namespace arrowdevice::opencl
