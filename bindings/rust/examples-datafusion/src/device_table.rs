// SPDX-License-Identifier: Apache-2.0
//! A table of DataFusion whose batches are on a device. A query copies the columns that it needs to
//! the CPU while it reads them.

use std::sync::{Arc, Mutex};

use arrowdevice::{Array, Device, DeviceType, Error, Schema, Stream, StreamOptions};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{StreamExt, stream};

/// Batches that are on the CPU ahead of DataFusion.
const DEPTH: u32 = 2;

/// A table on a device. It is one partition, which DataFusion reads in order.
#[derive(Debug)]
pub struct DeviceTable {
    schema: SchemaRef,
    /// The lock is for scans on several threads, because sharing an array needs `&mut`.
    batches: Mutex<Vec<Array>>,
}

impl DeviceTable {
    /// Makes a table of batches on one device. Their copies to the device may still run.
    pub fn new(schema: SchemaRef, batches: Vec<Array>) -> DeviceTable {
        let batches = Mutex::new(batches);
        DeviceTable { schema, batches }
    }

    /// Returns some columns of the table. Both tables share the memory on the device.
    fn select(&self, columns: Option<&Vec<usize>>) -> Result<DeviceTable> {
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let columns = columns.unwrap_or(&all);
        let mut batches = self.batches.lock().expect("no code panics while it holds the lock");
        let selected: arrowdevice::Result<_> = batches.iter_mut().map(|batch| batch.select(columns)).collect();
        let schema = Arc::new(self.schema.project(columns)?);
        Ok(DeviceTable::new(schema, selected.map_err(external)?))
    }

    /// Makes a stream that brings the batches to the CPU. Its thread waits for the device, so that
    /// no thread of DataFusion does.
    fn to_cpu(&self) -> arrowdevice::Result<impl futures::Stream<Item = Result<RecordBatch>> + Send + 'static> {
        let mut batches = self.batches.lock().expect("no code panics while it holds the lock");
        let shared: Vec<Array> = batches
            .iter_mut()
            .map(Array::share)
            .collect::<arrowdevice::Result<_>>()?;
        let device_type = shared.first().map_or(DeviceType::CPU, Array::device_type);
        let schema = Schema::try_from(self.schema.as_ref())?;
        let on_cpu = Stream::from_arrays(&schema, shared, device_type)?
            .into_device(Device::cpu()?, StreamOptions::new().depth(DEPTH))?;
        Ok(on_cpu
            .into_async(DEPTH)?
            .map(|batch| batch.and_then(|batch| Ok(batch.into_record_batch()?)).map_err(external)))
    }
}

#[async_trait::async_trait]
impl TableProvider for DeviceTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Plans a scan. It selects the columns on the device, so that no other column is copied.
    async fn scan(
        &self,
        _session: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let selected = self.select(projection)?;
        let schema = Arc::clone(&selected.schema);
        let scan = StreamingTableExec::try_new(schema, vec![Arc::new(selected)], None, [], false, limit)?;
        Ok(Arc::new(scan))
    }
}

impl PartitionStream for DeviceTable {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let batches = match self.to_cpu() {
            Ok(batches) => batches.left_stream(),
            Err(error) => stream::iter([Err(external(error))]).right_stream(),
        };
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches))
    }
}

/// Wraps an error of the library.
pub fn external(error: impl Into<Error>) -> DataFusionError {
    DataFusionError::External(Box::new(error.into()))
}
