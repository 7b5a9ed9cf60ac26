// SPDX-License-Identifier: Apache-2.0
#![cfg_attr(all(feature = "arrow", feature = "stream"), doc = include_str!("../README.md"))]
#![cfg_attr(
    not(all(feature = "arrow", feature = "stream")),
    doc = "The safe side of libarrowdevice; its README is about the features `arrow` and `stream`."
)]

mod array;
#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "stream")]
mod async_stream;
mod backend;
mod buffer;
mod call;
mod deferred;
mod device;
mod device_type;
mod error;
mod from_buffers;
mod host_copy;
#[cfg(unix)]
mod ipc_handle;
mod library;
mod link;
mod node;
mod options;
mod owned;
mod pool;
mod producer;
mod queue;
mod schema;
mod stream;
mod tensor;
mod view;

pub use array::{Array, Validation};
#[cfg(feature = "arrow")]
pub use arrow::RecordBatches;
pub use arrowdevice_sys as sys;
#[cfg(feature = "stream")]
pub use async_stream::AsyncStream;
pub use backend::{BackendReport, backend_reports, load_backend};
pub use buffer::Buffer;
pub use deferred::{deferred_run, deferred_set_manual, wait_idle};
pub use device::{Counters, Device, DeviceInfo, MemoryInfo, PeerFlags};
pub use device_type::DeviceType;
pub use error::{Error, ErrorKind, MoveError, Result};
pub use host_copy::HostCopy;
#[cfg(unix)]
pub use ipc_handle::IpcHandle;
pub use library::{LogLevel, log_reset_handler, log_set_handler, version};
pub use link::{ConnectOptions, Server, ServerOptions, ServerStats};
pub use node::{Layout, Node, NodeBuffer, Role};
pub use options::{CopyOptions, ImportOptions, Sharing, StreamOptions};
pub use owned::{Owned, Releasable};
pub use pool::{Allocator, Pool, PoolOptions, PoolStats};
pub use queue::Queue;
pub use schema::Schema;
pub use stream::{Canceller, Stream};
pub use tensor::{DataType, Tensor};
pub use view::View;
