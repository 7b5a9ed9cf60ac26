// SPDX-License-Identifier: Apache-2.0
#include "cuda_like/reach.h"

#include <arrowdevice/arrowdevice.h>

namespace arrowdevice::cuda_like {
namespace {

constexpr uint32_t kCopy = ARROWDEVICE_PEER_COPY;
constexpr uint32_t kAccess = ARROWDEVICE_PEER_ACCESS | ARROWDEVICE_PEER_COPY;

// Host memory has the same address on every GPU. Pinned memory is portable, and managed memory migrates to its users.
uint32_t reach_from_host_memory(const Device& from, const Device& to) {
  const bool everywhere = from.kind == MemoryKind::kPinned || from.gpu.properties().shares_managed_memory;
  const bool there = everywhere || &from.gpu == &to.gpu;
  const bool is_what_it_is_called = to.kind == MemoryKind::kDevice || to.kind == from.kind;
  return there && is_what_it_is_called ? kAccess : kCopy;
}

uint32_t reach_between_gpus(const Device& from, const Device& to) {
  if (&from.gpu == &to.gpu) return kAccess;
  if (from.gpu.ordinal() == to.gpu.ordinal()) return kCopy;  // two contexts of one GPU
  const bool are_peers =
      to.gpu.use([&](Driver& driver) { return driver.can_access_peer(to.gpu.ordinal(), from.gpu.ordinal()); });
  // The library does not enable peer access between contexts, because this would change the application's contexts. The
  // result therefore lacks ACCESS.
  return are_peers ? kCopy : 0;
}

}  // namespace

uint32_t reach(const Device* from, const Device* to) {
  if (from == nullptr || from == to) return from == to ? kAccess : kCopy;
  if (to == nullptr) return from->is_host_readable() ? kAccess : kCopy;
  if (from->kind != MemoryKind::kDevice) return reach_from_host_memory(*from, *to);
  if (to->kind != MemoryKind::kDevice) return kCopy;
  return reach_between_gpus(*from, *to);
}

}  // namespace arrowdevice::cuda_like
