// SPDX-License-Identifier: Apache-2.0
//! Sends and receives the bytes and file descriptors of handles through a Unix socket. The standard
//! library cannot send descriptors yet, so this uses libc.

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

const MOST_BYTES: usize = 1 << 20;
const MOST_DESCRIPTORS: usize = 32;

/// A control message, in words because it must be aligned.
type Control = [u64; 1 + MOST_DESCRIPTORS];

fn result(code: isize) -> io::Result<usize> {
    usize::try_from(code).map_err(|_| io::Error::last_os_error())
}

/// Makes a message of one packet. It is valid as long as its arguments.
fn message(part: &mut libc::iovec, control: &mut Control, control_size: usize) -> libc::msghdr {
    // SAFETY: zeros are a valid message.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = control_size as _;
    message
}

/// Sends bytes and descriptors as one packet.
pub(crate) fn send(to: impl AsFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    assert!(
        descriptors.len() <= MOST_DESCRIPTORS,
        "a handle has at most 32 descriptors"
    );
    let size = size_of_val(descriptors) as u32;
    let mut control: Control = [0; 1 + MOST_DESCRIPTORS];
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: `control` has room for the header and the descriptors, which are plain numbers.
    unsafe {
        let message = message(&mut part, &mut control, libc::CMSG_SPACE(size) as usize);
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size) as _;
        let numbers = libc::CMSG_DATA(header).cast::<RawFd>();
        for (index, descriptor) in descriptors.iter().enumerate() {
            numbers.add(index).write_unaligned(descriptor.as_raw_fd());
        }
        result(libc::sendmsg(
            to.as_fd().as_raw_fd(),
            &raw const message,
            libc::MSG_NOSIGNAL,
        ))?;
    }
    Ok(())
}

/// Receives a packet. It is empty if the other end is closed.
pub(crate) fn receive(from: impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; MOST_BYTES];
    let mut control: Control = [0; 1 + MOST_DESCRIPTORS];
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let mut descriptors = Vec::new();
    let is_cut;
    // SAFETY: the buffers have the sizes that the message says, and each descriptor is new.
    unsafe {
        let mut message = message(&mut part, &mut control, size_of::<Control>());
        let flags = libc::MSG_CMSG_CLOEXEC;
        bytes.truncate(result(libc::recvmsg(
            from.as_fd().as_raw_fd(),
            &raw mut message,
            flags,
        ))?);
        is_cut = message.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0;
        let header = libc::CMSG_FIRSTHDR(&raw const message).as_ref();
        if let Some(header) = header.filter(|header| header.cmsg_type == libc::SCM_RIGHTS) {
            let size = header.cmsg_len - libc::CMSG_LEN(0) as usize;
            let numbers = libc::CMSG_DATA(header).cast::<RawFd>();
            for index in 0..size / size_of::<RawFd>() {
                descriptors.push(OwnedFd::from_raw_fd(numbers.add(index).read_unaligned()));
            }
        }
    }
    if is_cut {
        return Err(io::Error::other("the message is longer than the space for it"));
    }
    Ok((bytes, descriptors))
}
