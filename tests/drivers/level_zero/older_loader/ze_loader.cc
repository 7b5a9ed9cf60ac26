// SPDX-License-Identifier: Apache-2.0
// A loader of before Level Zero 1.0, which has next to nothing of what the backend calls.
extern "C" __attribute__((visibility("default"))) int zeInit(unsigned) { return 0; }
