// SPDX-License-Identifier: Apache-2.0
//! Streams between processes: servers, and clients of servers.

use std::ffi::{c_int, c_void};
use std::fmt;
use std::ptr::{NonNull, null_mut};
use std::time::Duration;

use crate::array::Array;
use crate::call::{c_text, call, count, drop_without_panic, sized, timeout_ns, without_panic};
use crate::device::{Device, pointer_or_null};
use crate::error::{Error, MoveError, Result};
use crate::options::Sharing;
use crate::schema::Schema;
use crate::stream::Stream;
use crate::sys;

/// Offers streams to other processes of the machine, under names. They call [`Stream::connect`].
///
/// An address is `unix:/PATH` for a socket with a file, `unix:@NAME` for a socket without one, or
/// `fd:NUMBER` for a connected socket of the program, which serves one client. `%20` stands for a
/// space.
///
/// Batches in memory of a pool with [`PoolOptions::shareable`](crate::PoolOptions::shareable) are
/// sent without a copy. Others are copied once, into such a pool. The memory of a batch is in use
/// until the client has dropped the batch, or has ended.
///
/// Dropping a server ends the streams that have not ended, with `Canceled`. Batches that clients have
/// stay valid. It waits for calls of the program's streams and sources, so that they must not drop the
/// server themselves.
///
/// ```
/// # fn main() -> arrowdevice::Result<()> {
/// use arrow_array::Int64Array;
/// use arrowdevice::{Array, ConnectOptions, Server, ServerOptions, Stream};
///
/// let numbers = Array::from_arrow(&Int64Array::from(vec![1, 2, 3]))?;
/// let schema = numbers.schema().clone();
/// let server = Server::new("unix:@rust-numbers", ServerOptions::new())?;
/// server.add_arrays("numbers", &schema, &mut [numbers])?;
///
/// // Usually in another process. SAFETY: the server has valid arrays, and does not write to them.
/// let stream = unsafe { Stream::connect("unix:@rust-numbers?name=numbers", None, ConnectOptions::new()) }?;
/// for array in stream {
///     assert_eq!(array?.len(), 3);
/// }
/// assert_eq!(server.stats()?.batches, 1);
/// # Ok(())
/// # }
/// ```
pub struct Server(NonNull<sys::arrowdevice_server>);

// SAFETY: all functions on servers may be called from any thread, and the one owner destroys the
// server once. The server owns streams and sources, which are `Send`.
unsafe impl Send for Server {}
// SAFETY: the same holds here.
unsafe impl Sync for Server {}

/// Options of a server.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    any_user: bool,
    isolated: bool,
    sharing: Sharing,
    max_clients: u32,
    max_client_bytes: usize,
}

impl ServerOptions {
    /// Returns the defaults: clients of the same user, which share memory if possible.
    pub fn new() -> ServerOptions {
        ServerOptions::default()
    }

    /// Accepts processes of other users. They get copies, in memory that no other client sees.
    #[must_use]
    pub fn any_user(mut self, any_user: bool) -> ServerOptions {
        self.any_user = any_user;
        self
    }

    /// Gives each client copies, in memory that no other client sees.
    #[must_use]
    pub fn isolated(mut self, isolated: bool) -> ServerOptions {
        self.isolated = isolated;
        self
    }

    /// Selects if batches share the memory with clients. With [`Sharing::Required`], a batch that
    /// needs a copy ends its stream with `Unsupported`. [`Sharing::Refused`] is refused: see
    /// [`isolated`](ServerOptions::isolated).
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> ServerOptions {
        self.sharing = sharing;
        self
    }

    /// Limits the clients at once. Another client gets `Busy`. 0 means 64.
    #[must_use]
    pub fn max_clients(mut self, clients: u32) -> ServerOptions {
        self.max_clients = clients;
        self
    }

    /// Limits the bytes of copies that one connection has in use on one device. It applies to clients
    /// of another user, and to all clients of an isolated server. Beyond it the client's stream fails
    /// with `OutOfMemory`. 0 means 1 GiB.
    #[must_use]
    pub fn max_client_bytes(mut self, bytes: usize) -> ServerOptions {
        self.max_client_bytes = bytes;
        self
    }

    fn raw(&self) -> sys::arrowdevice_server_options {
        let isolated = if self.isolated {
            sys::ARROWDEVICE_LINK_ISOLATED
        } else {
            0
        };
        sys::arrowdevice_server_options {
            flags: user_flags(self.any_user) | isolated,
            copy_flags: self.sharing.flags(),
            max_clients: i32::try_from(self.max_clients).unwrap_or(i32::MAX),
            max_client_bytes: count(self.max_client_bytes),
            ..sized!(arrowdevice_server_options)
        }
    }
}

/// Options of a client.
#[derive(Debug, Clone, Default)]
pub struct ConnectOptions {
    any_user: bool,
    sharing: Sharing,
    max_batches: u32,
    max_bytes: usize,
    timeout: Option<Duration>,
}

impl ConnectOptions {
    /// Returns the defaults: a server of the same user, which shares memory if possible, no time-out.
    pub fn new() -> ConnectOptions {
        ConnectOptions::default()
    }

    /// Accepts a server of another user.
    #[must_use]
    pub fn any_user(mut self, any_user: bool) -> ConnectOptions {
        self.any_user = any_user;
        self
    }

    /// Selects if batches share the memory with the server. With [`Sharing::Refused`], each batch is
    /// copied into memory that no other process can open. With [`Sharing::Required`], a batch that
    /// needs a copy ends the stream with `Unsupported`.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> ConnectOptions {
        self.sharing = sharing;
        self
    }

    /// Limits the batches that the server sends before the consumer takes the first. 0 means 64.
    #[must_use]
    pub fn max_batches(mut self, batches: u32) -> ConnectOptions {
        self.max_batches = batches;
        self
    }

    /// Limits the bytes of these batches, but the server always sends one. 0 means 64 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> ConnectOptions {
        self.max_bytes = bytes;
        self
    }

    /// Limits the connection, and each call for the next array. They fail with `TimedOut`. A zero
    /// duration does not wait.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> ConnectOptions {
        self.timeout = Some(timeout);
        self
    }

    fn raw(&self) -> sys::arrowdevice_connect_options {
        sys::arrowdevice_connect_options {
            flags: user_flags(self.any_user),
            copy_flags: self.sharing.flags(),
            max_batches: i32::try_from(self.max_batches).unwrap_or(i32::MAX),
            max_bytes: count(self.max_bytes),
            timeout_ns: timeout_ns(self.timeout),
            ..sized!(arrowdevice_connect_options)
        }
    }
}

fn user_flags(any_user: bool) -> u32 {
    if any_user { sys::ARROWDEVICE_LINK_ANY_USER } else { 0 }
}

/// Statistics of a server, all since it was made except `clients`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ServerStats {
    /// Connections now.
    pub clients: i64,
    /// Batches that were sent.
    pub batches: i64,
    /// Bytes of these batches.
    pub bytes: i64,
    /// Bytes that the server copied: for a client, or once by [`Server::add_arrays`].
    pub copied_bytes: i64,
}

impl Server {
    /// Makes a server, which accepts clients from now on. The address has no name of a stream.
    ///
    /// It fails with `InvalidInput` or `Unsupported` if the address is not valid. If another server
    /// has the address, [`Error::errno`] is `EADDRINUSE`. `AlreadyExists` means that the path is a
    /// file that is no socket.
    pub fn new(uri: &str, options: ServerOptions) -> Result<Server> {
        let uri = c_text("address", uri)?;
        let raw_options = options.raw();
        let mut out = null_mut();
        // SAFETY: all pointers are valid.
        call(|error| unsafe {
            sys::arrowdevice_server_create(uri.as_ptr(), &raw const raw_options, &raw mut out, error)
        })?;
        Ok(Server(NonNull::new(out).expect("a successful call returns a server")))
    }

    /// Offers a stream, which the first client gets. Every later client gets `Busy`.
    ///
    /// Queues from [`StreamOptions::queue`](crate::StreamOptions::queue) are dropped here, as in
    /// [`Stream::into_raw`]. It fails with `InvalidInput` if the name is empty, or if the stream is in
    /// a context that the application owns. It fails with `AlreadyExists` if the server has a stream
    /// of that name. The error holds the stream.
    pub fn add_stream(&self, name: &str, stream: Stream) -> Result<(), MoveError<Stream>> {
        let added = c_text("name", name).and_then(|name| {
            check_context(stream.source())?;
            stream.hand_over(|raw, error| {
                // SAFETY: all pointers are valid, and the stream is ours alone.
                unsafe { sys::arrowdevice_server_add_stream(self.as_ptr(), name.as_ptr(), raw, error) }
            })
        });
        added.map_err(|error| MoveError::new(error, stream))
    }

    /// Offers arrays as a stream, which every client gets from its beginning. The arrays stay with the
    /// caller, and share their memory with the server.
    ///
    /// Arrays that are not in shareable memory are copied once, by this call.
    /// [`stats`](Server::stats) does not count these bytes. The arrays have the given type and are on
    /// devices of one type. There may be none.
    ///
    /// It fails with `Unsupported` if the arrays' device has no shareable memory, or if a copy is
    /// necessary and ruled out. Other errors are those of [`add_stream`](Server::add_stream) and of
    /// [`Array::copy_to`].
    pub fn add_arrays(&self, name: &str, schema: &Schema, arrays: &mut [Array]) -> Result<()> {
        let name = c_text("name", name)?;
        schema.check_arrays(arrays)?;
        arrays.iter().try_for_each(|array| check_context(array.source()))?;
        // The library takes the structs side by side, so they move out of the arrays and back.
        let places = arrays.iter_mut().map(Array::as_raw_mut);
        // SAFETY: the arrays are ours alone, and nothing uses them until their structs are back.
        let mut raw: Vec<_> = places.map(|place| unsafe { std::mem::take(&mut *place) }).collect();
        // SAFETY: the vector has as many arrays of this schema as the call says.
        let added = call(|error| unsafe {
            sys::arrowdevice_server_add_arrays(
                self.as_ptr(),
                name.as_ptr(),
                schema.as_raw(),
                raw.as_mut_ptr(),
                count(raw.len()),
                error,
            )
        });
        for (array, raw) in arrays.iter_mut().zip(raw) {
            // SAFETY: the place has the empty struct from above.
            unsafe { *array.as_raw_mut() = raw };
        }
        added
    }

    /// Offers a source, which is called for each client and opens its stream.
    ///
    /// Threads of the library call it, several at once. If it fails, the client gets the error's code
    /// and text. A panic becomes `DeviceFailure`. The source is dropped after its last call, by
    /// [`remove`](Server::remove), when the server is dropped, or by a thread of the library.
    ///
    /// Errors are those of [`add_stream`](Server::add_stream), and hold the source.
    ///
    /// ```
    /// # fn main() -> arrowdevice::Result<()> {
    /// # use arrow_array::Int64Array;
    /// # use arrow_schema::DataType;
    /// # use arrowdevice::{Array, ConnectOptions, DeviceType, Schema, Server, ServerOptions, Stream};
    /// let schema = Schema::try_from(&DataType::Int64)?;
    /// let server = Server::new("unix:@rust-sources", ServerOptions::new())?;
    /// server.add_source("squares", move || {
    ///     let arrays = (1..=3).map(|n| Array::from_arrow(&Int64Array::from(vec![n * n])));
    ///     Ok(Stream::from_iterator(&schema, DeviceType::CPU, arrays))
    /// })?;
    /// # // SAFETY: the server has valid arrays, and does not write to them.
    /// # let stream = unsafe { Stream::connect("unix:@rust-sources", None, ConnectOptions::new()) }?;
    /// # assert_eq!(stream.filter(Result::is_ok).count(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn add_source<F>(&self, name: &str, source: F) -> Result<(), MoveError<F>>
    where
        F: Fn() -> Result<Stream> + Send + Sync + 'static,
    {
        let name = match c_text("name", name) {
            Ok(name) => name,
            Err(error) => return Err(MoveError::new(error, source)),
        };
        let user = Box::into_raw(Box::new(source));
        let added = call(|error| unsafe {
            // SAFETY: the callbacks match the type at `user`.
            sys::arrowdevice_server_add_source(
                self.as_ptr(),
                name.as_ptr(),
                Some(open::<F>),
                user.cast(),
                Some(release::<F>),
                error,
            )
        });
        // SAFETY: Box::into_raw made the pointer, and the failed call left it ours.
        added.map_err(|error| MoveError::new(error, *unsafe { Box::from_raw(user) }))
    }

    /// Removes a stream, arrays or a source. Clients that have it already keep it. It fails with
    /// `NotFound` if the server has nothing of that name.
    pub fn remove(&self, name: &str) -> Result<()> {
        let name = c_text("name", name)?;
        // SAFETY: the object is alive, and the name is terminated.
        call(|error| unsafe { sys::arrowdevice_server_remove(self.as_ptr(), name.as_ptr(), error) })
    }

    /// Returns the current statistics.
    pub fn stats(&self) -> Result<ServerStats> {
        let mut raw = sized!(arrowdevice_server_stats);
        // SAFETY: the object is alive, and the struct's size is set.
        call(|error| unsafe { sys::arrowdevice_server_get_stats(self.as_ptr(), &raw mut raw, error) })?;
        Ok(ServerStats {
            clients: raw.clients,
            batches: raw.batches,
            bytes: raw.bytes,
            copied_bytes: raw.copied_bytes,
        })
    }

    /// Returns the pointer for calls of [`sys`](crate::sys).
    pub fn as_ptr(&self) -> *mut sys::arrowdevice_server {
        self.0.as_ptr()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // SAFETY: the object is alive and not used again.
        unsafe { sys::arrowdevice_server_destroy(self.as_ptr()) }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Server({:p})", self.0)
    }
}

impl Stream {
    /// Connects to a [`Server`] of another process, and gets one of its streams. The address has
    /// `?name=NAME` if the server has more than one.
    ///
    /// With `None` the batches are on the device where the server has them, or on the CPU if this
    /// process has no device of that type. With the CPU, the server copies batches of other devices.
    /// With another device, they are put there as by [`Stream::into_device`].
    ///
    /// It blocks until the server has opened the stream. It fails with `NotFound` if the server has no
    /// stream of that name, and the message has the names. It fails with `Busy` if another client has
    /// the stream, or if there are too many clients. [`Error::errno`] is `ECONNREFUSED` or `ENOENT` if
    /// there is no server, and `EACCES` if the server is of another user.
    ///
    /// The stream fails with the error of the server's stream. If the server's process ends, its
    /// [`Error::errno`] is `ECONNRESET`. Arrays of the stream stay valid after either.
    ///
    /// # Safety
    /// The arrays are valid as the Arrow format specifies, and no process writes to their memory while
    /// this process uses them. The library cannot check this, because the server's process keeps its
    /// access to the memory. A program that does not trust it connects with [`Sharing::Refused`], and
    /// [`validate`](Array::validate)s each array with `Full` before any other use.
    pub unsafe fn connect(uri: &str, to: Option<Device>, options: ConnectOptions) -> Result<Stream> {
        let uri = c_text("address", uri)?;
        let raw_options = options.raw();
        let mut out = sys::ArrowDeviceArrayStream::default();
        // SAFETY: all pointers are valid.
        call(|error| unsafe {
            sys::arrowdevice_stream_connect(
                uri.as_ptr(),
                pointer_or_null(to),
                &raw const raw_options,
                &raw mut out,
                error,
            )
        })?;
        // SAFETY: the library made the struct just now, and the caller guarantees its arrays.
        Ok(unsafe { Stream::from_raw(out) }.on(to.and_then(Device::unless_found_by_pair)))
    }
}

/// Refuses data whose device the server cannot find by type and id.
fn check_context(source: Option<Device>) -> Result<()> {
    match source {
        None => Ok(()),
        Some(device) => Err(Error::invalid(format!(
            "the data is in a context of {device} that the application owns, and the server cannot find that context"
        ))),
    }
}

unsafe extern "C" fn open<F>(
    user: *mut c_void,
    out: *mut sys::ArrowDeviceArrayStream,
    error: *mut sys::arrowdevice_error,
) -> c_int
where
    F: Fn() -> Result<Stream>,
{
    // SAFETY: `user` is the source until it is released.
    let source = unsafe { &*user.cast::<F>() };
    let opened = without_panic("a source", || {
        let stream = source()?;
        check_context(stream.source())?;
        Ok(stream.into_raw())
    });
    match opened {
        Ok(stream) => {
            // SAFETY: the library's output is valid for writes.
            unsafe { out.write(stream) };
            0
        }
        Err(failure) => {
            // SAFETY: the same holds here.
            unsafe { error.write(failure.to_raw()) };
            failure.errno()
        }
    }
}

unsafe extern "C" fn release<F>(user: *mut c_void) {
    // SAFETY: Box::into_raw made the pointer, and it is not used again.
    drop_without_panic(unsafe { Box::from_raw(user.cast::<F>()) });
}
