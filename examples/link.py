# SPDX-License-Identifier: Apache-2.0
"""Offers a table to another process, which reads it without a copy: prints "[{'price': 1.5}, {'price': 2.5}] 0"."""

import multiprocessing
import os

import pyarrow

import arrowdevice

URI = f"unix:@prices-{os.getuid()}"


def read(rows):
    # [connect]
    with arrowdevice.connect(f"{URI}?name=bids", copy=False) as stream:
        for batch in stream:
            rows.put(batch.to_pylist())
    # [end]


def main():
    context = multiprocessing.get_context("spawn")
    rows = context.Queue()
    process = context.Process(target=read, args=(rows,))
    # [serve]
    pool = arrowdevice.Pool("cpu", shareable=True)
    prices = arrowdevice.Table(pyarrow.table({"price": [1.5, 2.5]}))
    prices = arrowdevice.to_device(prices, "cpu", copy=True, pool=pool)
    with arrowdevice.Server(URI) as server:
        server.add("bids", prices)  # every client gets the table
        process.start()  # the client
        print(rows.get(), server.stats.copied_bytes)
        process.join()
    # [end]


if __name__ == "__main__":
    main()
