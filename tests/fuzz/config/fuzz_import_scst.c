// SPDX-License-Identifier: BSD-2-Clause
// An scst.conf of SCST.
#include "import_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return import_one(&import_kind_scst, data, size);
}
