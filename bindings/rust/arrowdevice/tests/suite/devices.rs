// SPDX-License-Identifier: Apache-2.0
use arrow_array::Int32Array;
use arrowdevice::{
    Array, CopyOptions, Device, DeviceType, ErrorKind, Queue, Sharing, Stream, StreamOptions, Validation,
    backend_reports, sys, version,
};

use crate::types;

/// Simulated devices after the first two, as test.sh configures them.
pub(crate) const SLOW: &str = "ext_dev:2";
pub(crate) const SMALL: &str = "ext_dev:3";

/// Returns the devices that tests run on. A missing device fails the test.
pub(crate) fn tested() -> Vec<Device> {
    let names = std::env::var("ARROWDEVICE_TEST_DEVICES").expect("test.sh sets ARROWDEVICE_TEST_DEVICES");
    let devices: Vec<Device> = names.split(',').map(device).collect();
    assert!(
        devices.len() > 1,
        "ARROWDEVICE_TEST_DEVICES={names}: more than the CPU is needed"
    );
    devices
}

/// Returns the tested devices whose memory other processes can open.
pub(crate) fn shareable() -> Vec<Device> {
    let devices: Vec<Device> = tested()
        .into_iter()
        .filter(|device| device.info().unwrap().shareable)
        .collect();
    for name in ["cpu", "ext_dev:0", "ext_dev:1"] {
        assert!(devices.contains(&device(name)), "{name}");
    }
    devices
}

pub(crate) fn device(name: &str) -> Device {
    Device::find_by_name(name).unwrap_or_else(|error| panic!("{name}: {error}; {:#?}", backend_reports()))
}

#[test]
fn info_describes_the_tested_devices() {
    for device in tested() {
        let info = device.info().unwrap();
        assert_eq!(format!("{device}").parse::<Device>().unwrap(), device);
        assert_eq!(Device::find_by_id(info.device_type, info.device_id).unwrap(), device);
        assert!(!info.name.is_empty() && !info.backend.is_empty(), "{info:?}");
        assert!(info.buffer_alignment.is_power_of_two(), "{info:?}");
        assert!(!info.wrapped);
        assert!(Device::count(info.device_type).unwrap() > 0);
        assert!(Device::list().unwrap().contains(&device));
        let flags = device.peer_flags(device).unwrap();
        assert!(flags.access && flags.copy);
        if let Some(total) = info.total_memory {
            assert!(device.memory_info().unwrap().free.is_none_or(|free| free <= total));
        }
    }
}

#[test]
fn both_cpu_ids_find_one_device() {
    assert_eq!(Device::cpu().unwrap(), Device::find_by_id(DeviceType::CPU, 0).unwrap());
    assert_eq!(device("cpu"), Device::cpu().unwrap());
    assert!(Device::cpu().unwrap().info().unwrap().host_readable);
}

#[test]
fn device_types_have_names() {
    assert_eq!(DeviceType::OPENCL.name(), Some("opencl"));
    assert_eq!(DeviceType::EXT_DEV.to_string(), "ext_dev");
    assert_eq!(DeviceType(4711).name(), None);
    assert_eq!(format!("{:?}", DeviceType(4711)), "device type 4711");
}

#[test]
fn find_by_name_refuses_bad_names_with_the_name() {
    for name in ["", "nonsense", "cpu:x", "ext_dev:0\0"] {
        let error = Device::find_by_name(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name:?}: {error}");
        assert_eq!(error.errno(), libc::EINVAL);
        assert_eq!(error.backend(), "");
    }
    let error = Device::find_by_name("ext_dev:99").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoDevice);
    assert!(error.message().contains("99"), "{error}");
    assert_eq!(
        Device::count(DeviceType(4711)).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn backend_reports_name_the_path_of_a_backend() {
    device("ext_dev:0");
    let reports = backend_reports().unwrap();
    let sim = reports.iter().find(|report| report.name == "sim" && report.status == 0);
    assert!(sim.is_some_and(|sim| sim.path.is_absolute()), "{reports:#?}");
}

#[test]
fn load_backend_requires_an_absolute_path() {
    // SAFETY: neither file is loaded.
    let load = |path: &str| unsafe { arrowdevice::load_backend(path) }.unwrap_err().kind();
    assert_eq!(load("libarrowdevice-sim.so"), ErrorKind::InvalidInput);
    assert_eq!(load("/nonexistent/libarrowdevice-sim.so"), ErrorKind::NotFound);
}

#[test]
fn library_version_matches_the_declarations() {
    use arrowdevice::sys::{ARROWDEVICE_VERSION_MAJOR, ARROWDEVICE_VERSION_MINOR, ARROWDEVICE_VERSION_PATCH};
    let declared = format!("{ARROWDEVICE_VERSION_MAJOR}.{ARROWDEVICE_VERSION_MINOR}.{ARROWDEVICE_VERSION_PATCH}");
    assert_eq!(version(), declared);
}

/// Wraps a context that the application owns. The address of the returned box distinguishes the
/// context from others.
pub(crate) fn wrapped() -> (Device, Box<u8>) {
    let context = Box::new(0_u8);
    let native = sys::arrowdevice_native_device {
        struct_size: size_of::<sys::arrowdevice_native_device>() as u32,
        context: (&raw const *context).cast_mut().cast(),
        ..Default::default()
    };
    // SAFETY: the simulated device uses only the address of a context.
    let wrapped = unsafe { Device::wrap(DeviceType::EXT_DEV, 0, &native) }.unwrap();
    (wrapped, context)
}

/// Returns a device that refuses all calls.
pub(crate) fn closed() -> Device {
    let (wrapped, _context) = wrapped();
    wrapped.close(None).unwrap();
    wrapped
}

#[test]
fn arrays_in_a_wrapped_context_are_on_its_device() {
    let batch = types::batch();
    let (wrapped, _context) = wrapped();
    assert_ne!(wrapped, device("ext_dev:0"));
    assert!(wrapped.info().unwrap().wrapped);

    let mut there = Array::try_from(&batch)
        .unwrap()
        .into_device(wrapped, CopyOptions::new())
        .unwrap();
    assert_eq!(there.device().unwrap(), wrapped);
    there.validate(Validation::Full).unwrap();
    let part = there.slice(3, 9).unwrap();
    let schema = there.schema().clone();
    let lost = [Ok(there.share().unwrap())].into_iter();
    let error = Stream::from_iterator(&schema, DeviceType::EXT_DEV, lost)
        .next()
        .unwrap()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.message().contains("context that the application owns"), "{error}");
    // The call first waits for all copies of the process, also for those of other tests.
    assert_eq!(wrapped.close(None).unwrap_err().kind(), ErrorKind::Busy);

    let stream = Stream::from_arrays(&schema, vec![there, part], DeviceType::EXT_DEV).unwrap();
    let moved = stream
        .into_device(
            wrapped,
            StreamOptions::new()
                .sharing(Sharing::Refused)
                .queue(Queue::new(wrapped).unwrap()), // the stream drops it, so that the device can be closed
        )
        .unwrap();
    let arrays: Vec<Array> = moved.collect::<Result<_, _>>().unwrap();
    assert!(arrays.iter().all(|array| array.device().unwrap() == wrapped));
    let back: Vec<_> = arrays
        .into_iter()
        .map(|array| array.into_record_batch().unwrap())
        .collect();
    assert_eq!(back, [batch.clone(), batch.slice(3, 9)]);

    wrapped.close(None).unwrap();
    assert_eq!(Queue::new(wrapped).unwrap_err().kind(), ErrorKind::NoDevice);
    let not_wrapped = device("ext_dev:0").close(None).unwrap_err();
    assert_eq!(not_wrapped.kind(), ErrorKind::InvalidInput);
    assert_eq!(device("cpu").close(None).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn counters_count_the_driver_calls_of_a_copy() {
    let device = device("ext_dev:1");
    let before = device.counters().unwrap();
    let mut array = Array::from_arrow(&Int32Array::from(vec![1; 1000])).unwrap();
    array.copy_to(device, CopyOptions::new()).unwrap();
    let after = device.counters().unwrap(); // other tests use the device too
    assert!(after.submissions > before.submissions);
    assert!(after.bytes_in >= before.bytes_in + 4000);
}
