// SPDX-License-Identifier: Apache-2.0
// A loader from before Level Zero 1.0. It has almost none of the functions that the backend calls.
extern "C" __attribute__((visibility("default"))) int zeInit(unsigned) { return 0; }
