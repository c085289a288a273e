// SPDX-License-Identifier: BSD-2-Clause
// iSCSI names and ISIDs [RFC 7143 §4.2.7, §11.12.5]. Pure functions, any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "transport/wire/iscsi.h"

// Normalizes a received or typed name: ASCII lower case, at most ISCSI_NAME_MAX bytes of valid
// UTF-8 without blanks or control characters; else -EINVAL with a text. The type of name is not
// checked: initiators in the field send nonstandard names, and an ACL decides about them.
int iscsi_name_normalize(const char *name, size_t len, char ret[ISCSI_NAME_MAX + 1], struct err *e);

// Whether a normalised name may be given to a new object: iqn.yyyy-mm.domain[:text], eui. with
// 16 or naa. with 16 or 32 hex digits. -EINVAL with a text that shows the correct form.
int iscsi_name_check(const char *name, struct err *e);

// Whether a normalised name begins with iqn., eui. or naa., as every name of an ACL does. -EINVAL
// with a text otherwise.
int iscsi_name_check_type(const char *name, struct err *e);

// Normalizes a name that an administrator gives to a target or an ACL: is_target also checks its
// form (iscsi_name_check()), otherwise its type. No name contains a /. -EINVAL with text.
int name_iscsi(const char *in, bool is_target, char out[ISCSI_NAME_MAX + 1], struct err *e);

enum { ISCSI_ISID_TEXT = 15 }; // "0x", 12 hex digits, NUL

// As it appears in the SCSI initiator port name after ",i," [RFC 7143 §4.4.2].
void iscsi_isid_format(const uint8_t isid[ISCSI_ISID_LEN], char ret[ISCSI_ISID_TEXT]);

// A fresh ISID of type random. 0 or a negative errno of getrandom().
int iscsi_isid_random(uint8_t ret[ISCSI_ISID_LEN]);
