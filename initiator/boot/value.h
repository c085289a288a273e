// SPDX-License-Identifier: BSD-2-Clause
// Values of the iBFT as its files have them. Pure functions: 0, or -EINVAL with a text that says
// what the value must be, and which is never a secret. text ends with a NUL.
#pragma once

#include "initiator/boot/ibft.h"

// How a value is read, and where it goes.
struct ibft_row {
	const char *name; // of its file
	int (*take)(const char *text, void *object, const struct ibft_row *row, struct err *e);
	size_t at;  // in the object
	size_t max; // of a number; of a text its length
	size_t has; // of a bool that says that there is one; 0: none
};

int ibft_number(const char *text, void *object, const struct ibft_row *row, struct err *e);
int ibft_address(const char *text, void *object, const struct ibft_row *row, struct err *e);
int ibft_mask(const char *text, void *object, const struct ibft_row *row, struct err *e);
int ibft_mac(const char *text, void *object, const struct ibft_row *row, struct err *e);
int ibft_lun(const char *text, void *object, const struct ibft_row *row, struct err *e);
// The name of an iSCSI node.
int ibft_name(const char *text, void *object, const struct ibft_row *row, struct err *e);
// A user of CHAP or a secret, which no error repeats.
int ibft_chap(const char *text, void *object, const struct ibft_row *row, struct err *e);
