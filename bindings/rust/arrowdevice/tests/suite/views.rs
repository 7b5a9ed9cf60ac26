// SPDX-License-Identifier: Apache-2.0
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, LargeStringArray, RecordBatch};
use arrowdevice::{Array, CopyOptions, ImportOptions, Layout, Queue, Role, Validation, wait_idle};

use crate::counted::{self, Count};
use crate::devices::tested;
use crate::types;

fn batch() -> RecordBatch {
    RecordBatch::try_from_iter([
        (
            "n",
            Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])) as ArrayRef,
        ),
        ("s", Arc::new(LargeStringArray::from(vec!["a", "", "ccc"]))),
    ])
    .unwrap()
}

#[test]
fn view_has_typed_buffers_on_their_device() {
    for device in tested() {
        let there = Array::try_from(&batch())
            .unwrap()
            .into_device(device, CopyOptions::new())
            .unwrap();
        let options = ImportOptions::new().resolve_sizes(true).validation(Validation::Full);
        let view = there.import(options).unwrap();
        assert_eq!(view.device(), device);
        let root = view.root();
        assert_eq!(
            (root.layout(), root.len(), root.children().len()),
            (Layout::Struct, 3, 2)
        );
        let columns: Vec<_> = root.children().collect();
        assert_eq!(columns[0].name(), Some(c"n"));
        assert_eq!(
            (columns[0].format(), columns[0].layout(), columns[0].bit_width()),
            (c"i", Layout::Fixed, 32)
        );
        assert_eq!(columns[0].null_count(), Some(1));
        let data = columns[0].buffer(Role::Data).unwrap();
        assert!(!data.data.is_null());
        assert_eq!(data.size, Some(12));
        assert_eq!(columns[1].layout(), Layout::LargeBinary);
        assert_eq!(columns[1].buffer(Role::Offsets).unwrap().size, Some(32));
        assert_eq!(columns[1].buffer(Role::Data).unwrap().size, Some(4));
        assert!(columns[1].buffer(Role::Views).is_none() && columns[1].dictionary().is_none());
        assert!(format!("{root:?}").contains("LargeBinary"));

        let shared = view.share().unwrap();
        let array = view.into_array();
        assert_eq!(array.into_record_batch().unwrap(), batch());
        assert_eq!(shared.into_record_batch().unwrap(), batch());
    }
}

#[test]
fn view_of_each_type_has_its_layout() {
    for (name, array) in types::all() {
        let view = Array::from_arrow(&array).unwrap().import(ImportOptions::new()).unwrap();
        let root = view.root();
        assert!(!matches!(root.layout(), Layout::Other(_)), "{name}");
        assert!(
            root.buffers().all(|buffer| !matches!(buffer.role, Role::Other(_))),
            "{name}"
        );
        assert_eq!(root.len(), array.len(), "{name}");
        assert_eq!(root.dictionary().is_some(), name.starts_with("dictionary"), "{name}");
    }
}

#[test]
fn view_releases_its_array_once() {
    let count = Count::default();
    let view = counted::device_array(&count).import(ImportOptions::new()).unwrap();
    drop(view);
    assert_eq!(count.get(), 1);
    let view = counted::device_array(&count).import(ImportOptions::new()).unwrap();
    let array = view.into_array();
    assert_eq!(count.get(), 1);
    drop(array);
    assert_eq!(count.get(), 2);
}

#[test]
fn view_is_released_after_the_queues_work() {
    for device in tested() {
        let count = Count::default();
        let mut queue = Queue::new(device).unwrap();
        let options = ImportOptions::new().queue(&mut queue);
        let view = counted::device_array(&count).import(options).unwrap();
        view.release_after(&mut queue).unwrap();
        queue.finish(None).unwrap();
        wait_idle(None).unwrap();
        assert_eq!(count.get(), 1);
    }
}
