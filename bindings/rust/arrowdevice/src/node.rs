// SPDX-License-Identifier: Apache-2.0
use std::ffi::{CStr, c_void};
use std::fmt;

use crate::call::text_or_none;
use crate::sys;

/// One node of an imported array: its type and its typed buffers.
#[derive(Clone, Copy)]
pub struct Node<'a>(&'a sys::arrowdevice_node);

// SAFETY: a view's nodes are only read, which is free from any thread.
unsafe impl Send for Node<'_> {}
// SAFETY: as above.
unsafe impl Sync for Node<'_> {}

/// How an array is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are the format's")]
pub enum Layout {
    Null,
    /// Also booleans (1 bit wide) and dictionary indices.
    Fixed,
    Binary,
    LargeBinary,
    BinaryView,
    /// Also maps.
    List,
    LargeList,
    ListView,
    LargeListView,
    FixedSizeList,
    Struct,
    SparseUnion,
    DenseUnion,
    RunEndEncoded,
    /// One that this version of the crate does not know.
    Other(i32),
}

impl Layout {
    fn from_raw(layout: i32) -> Layout {
        match layout {
            sys::ARROWDEVICE_LAYOUT_NULL => Layout::Null,
            sys::ARROWDEVICE_LAYOUT_FIXED => Layout::Fixed,
            sys::ARROWDEVICE_LAYOUT_BINARY => Layout::Binary,
            sys::ARROWDEVICE_LAYOUT_LARGE_BINARY => Layout::LargeBinary,
            sys::ARROWDEVICE_LAYOUT_BINARY_VIEW => Layout::BinaryView,
            sys::ARROWDEVICE_LAYOUT_LIST => Layout::List,
            sys::ARROWDEVICE_LAYOUT_LARGE_LIST => Layout::LargeList,
            sys::ARROWDEVICE_LAYOUT_LIST_VIEW => Layout::ListView,
            sys::ARROWDEVICE_LAYOUT_LARGE_LIST_VIEW => Layout::LargeListView,
            sys::ARROWDEVICE_LAYOUT_FIXED_SIZE_LIST => Layout::FixedSizeList,
            sys::ARROWDEVICE_LAYOUT_STRUCT => Layout::Struct,
            sys::ARROWDEVICE_LAYOUT_SPARSE_UNION => Layout::SparseUnion,
            sys::ARROWDEVICE_LAYOUT_DENSE_UNION => Layout::DenseUnion,
            sys::ARROWDEVICE_LAYOUT_RUN_END_ENCODED => Layout::RunEndEncoded,
            other => Layout::Other(other),
        }
    }
}

/// What a buffer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are the format's")]
pub enum Role {
    Validity,
    Data,
    Offsets,
    Sizes,
    TypeIds,
    Views,
    Variadic,
    VariadicSizes,
    /// One that this version of the crate does not know.
    Other(u32),
}

impl Role {
    fn from_raw(role: u32) -> Role {
        match role {
            sys::ARROWDEVICE_ROLE_VALIDITY => Role::Validity,
            sys::ARROWDEVICE_ROLE_DATA => Role::Data,
            sys::ARROWDEVICE_ROLE_OFFSETS => Role::Offsets,
            sys::ARROWDEVICE_ROLE_SIZES => Role::Sizes,
            sys::ARROWDEVICE_ROLE_TYPE_IDS => Role::TypeIds,
            sys::ARROWDEVICE_ROLE_VIEWS => Role::Views,
            sys::ARROWDEVICE_ROLE_VARIADIC => Role::Variadic,
            sys::ARROWDEVICE_ROLE_VARIADIC_SIZES => Role::VariadicSizes,
            other => Role::Other(other),
        }
    }
}

/// One buffer of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeBuffer {
    /// As in the array: an address or a handle; NULL where the array has none.
    pub data: *const c_void,
    /// Bytes, from the buffer's start to the last one that the array uses; `None` where that is not known.
    pub size: Option<usize>,
    /// What it is for.
    pub role: Role,
    /// Whether it lies in host memory.
    pub on_host: bool,
}

impl<'a> Node<'a> {
    pub(crate) fn new(node: &'a sys::arrowdevice_node) -> Node<'a> {
        Node(node)
    }

    /// The struct.
    pub fn as_raw(self) -> &'a sys::arrowdevice_node {
        self.0
    }

    /// The field's name.
    pub fn name(self) -> Option<&'a CStr> {
        // SAFETY: NULL or the view's text.
        unsafe { text_or_none(self.0.name) }
    }

    /// The format string.
    pub fn format(self) -> &'a CStr {
        // SAFETY: NULL or the view's text.
        unsafe { text_or_none(self.0.format) }.unwrap_or_default()
    }

    /// The name of an extension type.
    pub fn extension_name(self) -> Option<&'a CStr> {
        // SAFETY: NULL or the view's text.
        unsafe { text_or_none(self.0.extension_name) }
    }

    /// The metadata of an extension type.
    pub fn extension_metadata(self) -> Option<&'a [u8]> {
        let size = usize::try_from(self.0.extension_metadata_size).unwrap_or(0);
        // SAFETY: NULL or so many bytes of the view.
        (!self.0.extension_metadata.is_null())
            .then(|| unsafe { std::slice::from_raw_parts(self.0.extension_metadata.cast::<u8>(), size) })
    }

    /// How it is laid out.
    pub fn layout(self) -> Layout {
        Layout::from_raw(self.0.layout)
    }

    /// Rows.
    pub fn len(self) -> usize {
        self.0.length as usize
    }

    /// Whether there are no rows.
    pub fn is_empty(self) -> bool {
        self.0.length == 0
    }

    /// Rows before the first one, in its buffers.
    pub fn offset(self) -> usize {
        self.0.offset as usize
    }

    /// Rows that are null, where that has been counted.
    pub fn null_count(self) -> Option<usize> {
        usize::try_from(self.0.null_count).ok()
    }

    /// Bits of a fixed-width value; else 0.
    pub fn bit_width(self) -> usize {
        self.0.bit_width as usize
    }

    /// Rows of a fixed-size list; else 0.
    pub fn list_size(self) -> usize {
        self.0.list_size as usize
    }

    /// Its buffers, in the format's order.
    pub fn buffers(self) -> impl ExactSizeIterator<Item = NodeBuffer> + 'a {
        (0..self.0.n_buffers as usize).map(move |index| {
            // SAFETY: there are so many, owned by the view.
            let raw = unsafe { &*self.0.buffers.add(index) };
            NodeBuffer {
                data: raw.data,
                size: (raw.flags & sys::ARROWDEVICE_BUFFER_SIZE_KNOWN != 0).then_some(raw.size as usize),
                role: Role::from_raw(raw.role),
                on_host: raw.flags & sys::ARROWDEVICE_BUFFER_HOST != 0,
            }
        })
    }

    /// The first of its buffers with this role.
    pub fn buffer(self, role: Role) -> Option<NodeBuffer> {
        self.buffers().find(|buffer| buffer.role == role)
    }

    /// Its children, in the format's order.
    pub fn children(self) -> impl ExactSizeIterator<Item = Node<'a>> + 'a {
        // SAFETY: there are so many, owned by the view.
        (0..self.0.n_children as usize).map(move |index| Node(unsafe { &**self.0.children.add(index) }))
    }

    /// The values of a dictionary.
    pub fn dictionary(self) -> Option<Node<'a>> {
        // SAFETY: NULL or the view's.
        unsafe { self.0.dictionary.as_ref() }.map(Node)
    }
}

impl fmt::Debug for Node<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Node")
            .field("name", &self.name())
            .field("format", &self.format())
            .field("layout", &self.layout())
            .field("len", &self.len())
            .field("offset", &self.offset())
            .field("buffers", &self.buffers().collect::<Vec<_>>())
            .field("children", &self.children().collect::<Vec<_>>())
            .field("dictionary", &self.dictionary())
            .finish()
    }
}
