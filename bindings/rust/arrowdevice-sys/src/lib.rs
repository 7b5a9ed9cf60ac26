// SPDX-License-Identifier: Apache-2.0
#![doc = include_str!("../README.md")]
#![no_std]

// The names, texts and order are those of the C header.
#[allow(
    missing_docs,
    non_camel_case_types,
    clippy::doc_lazy_continuation,
    clippy::doc_overindented_list_items,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks
)]
mod declarations;

pub use declarations::*;
