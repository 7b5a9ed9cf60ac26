/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ARROWDEVICE_ARROWDEVICE_H
#define ARROWDEVICE_ARROWDEVICE_H

#include "abi.h"
#include "array.h"
#include "async.h"
#include "backend_registry.h"
#include "base.h"
#include "buffer.h"
#include "copy.h"
#include "device.h"
#include "dlpack.h"
#include "ipc.h"
#include "link.h"
#include "queue.h"
#include "stream.h"
#include "view.h"

#endif
