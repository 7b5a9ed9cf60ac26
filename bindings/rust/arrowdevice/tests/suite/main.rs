// SPDX-License-Identifier: Apache-2.0
//! Tests the crate on every device of `ARROWDEVICE_TEST_DEVICES`. `test.sh` sets the environment.

mod async_streams;
mod bounded;
mod counted;
mod devices;
mod errors;
mod handles;
mod links;
mod memory;
mod ownership;
mod results;
mod streams;
mod tensors;
mod threads;
mod trips;
mod types;
mod views;
mod waits;
mod wrapped_queues;
