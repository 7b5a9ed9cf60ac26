// SPDX-License-Identifier: Apache-2.0
use std::ffi::{CStr, c_void};
use std::fmt;

use crate::call::text_or_none;
use crate::sys;

/// One node of an imported array: its type and its typed buffers.
#[derive(Clone, Copy)]
pub struct Node<'a>(&'a sys::arrowdevice_node);

// SAFETY: nodes of a view are only read, which any thread may do.
unsafe impl Send for Node<'_> {}
// SAFETY: the same holds here.
unsafe impl Sync for Node<'_> {}

/// The layout of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names are the format's")]
pub enum Layout {
    Null,
    /// Values of fixed width, booleans (1 bit wide) and dictionary indices.
    Fixed,
    Binary,
    LargeBinary,
    BinaryView,
    /// Lists and maps.
    List,
    LargeList,
    ListView,
    LargeListView,
    FixedSizeList,
    Struct,
    SparseUnion,
    DenseUnion,
    RunEndEncoded,
    /// A value that this version of the crate does not know.
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

/// The role of a buffer.
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
    /// A value that this version of the crate does not know.
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
    /// The address or handle in the array, or NULL if the array has none.
    pub data: *const c_void,
    /// Bytes from the buffer's start to the last byte that the array uses, or `None` if unknown.
    pub size: Option<usize>,
    /// The buffer's role.
    pub role: Role,
    /// True if the buffer is in host memory.
    pub on_host: bool,
}

impl<'a> Node<'a> {
    pub(crate) fn new(node: &'a sys::arrowdevice_node) -> Node<'a> {
        Node(node)
    }

    /// Returns the struct.
    pub fn as_raw(self) -> &'a sys::arrowdevice_node {
        self.0
    }

    /// Returns the field's name.
    pub fn name(self) -> Option<&'a CStr> {
        // SAFETY: the pointer is NULL or text of the view.
        unsafe { text_or_none(self.0.name) }
    }

    /// Returns the format string.
    pub fn format(self) -> &'a CStr {
        // SAFETY: the pointer is NULL or text of the view.
        unsafe { text_or_none(self.0.format) }.unwrap_or_default()
    }

    /// Returns the name of an extension type.
    pub fn extension_name(self) -> Option<&'a CStr> {
        // SAFETY: the pointer is NULL or text of the view.
        unsafe { text_or_none(self.0.extension_name) }
    }

    /// Returns the metadata of an extension type.
    pub fn extension_metadata(self) -> Option<&'a [u8]> {
        let size = usize::try_from(self.0.extension_metadata_size).unwrap_or(0);
        // SAFETY: the pointer is NULL or has this many bytes, and the view owns them.
        (!self.0.extension_metadata.is_null())
            .then(|| unsafe { std::slice::from_raw_parts(self.0.extension_metadata.cast::<u8>(), size) })
    }

    /// Returns the layout.
    pub fn layout(self) -> Layout {
        Layout::from_raw(self.0.layout)
    }

    /// Returns the number of rows.
    pub fn len(self) -> usize {
        self.0.length as usize
    }

    /// Returns true if there are no rows.
    pub fn is_empty(self) -> bool {
        self.0.length == 0
    }

    /// Returns the number of rows in the buffers before the first row.
    pub fn offset(self) -> usize {
        self.0.offset as usize
    }

    /// Returns the number of null rows, or `None` if it has not been counted.
    pub fn null_count(self) -> Option<usize> {
        usize::try_from(self.0.null_count).ok()
    }

    /// Returns the bits of a fixed-width value, or 0.
    pub fn bit_width(self) -> usize {
        self.0.bit_width as usize
    }

    /// Returns the rows of a fixed-size list, or 0.
    pub fn list_size(self) -> usize {
        self.0.list_size as usize
    }

    /// Returns the buffers in the format's order.
    pub fn buffers(self) -> impl ExactSizeIterator<Item = NodeBuffer> + 'a {
        (0..self.0.n_buffers as usize).map(move |index| {
            // SAFETY: the index is in range, and the view owns the element.
            let raw = unsafe { &*self.0.buffers.add(index) };
            NodeBuffer {
                data: raw.data,
                size: (raw.flags & sys::ARROWDEVICE_BUFFER_SIZE_KNOWN != 0).then_some(raw.size as usize),
                role: Role::from_raw(raw.role),
                on_host: raw.flags & sys::ARROWDEVICE_BUFFER_HOST != 0,
            }
        })
    }

    /// Returns the first buffer with this role.
    pub fn buffer(self, role: Role) -> Option<NodeBuffer> {
        self.buffers().find(|buffer| buffer.role == role)
    }

    /// Returns the children in the format's order.
    pub fn children(self) -> impl ExactSizeIterator<Item = Node<'a>> + 'a {
        // SAFETY: the index is in range, and the view owns the element.
        (0..self.0.n_children as usize).map(move |index| Node(unsafe { &**self.0.children.add(index) }))
    }

    /// Returns the values of a dictionary.
    pub fn dictionary(self) -> Option<Node<'a>> {
        // SAFETY: the pointer is NULL or belongs to the view.
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
