// SPDX-License-Identifier: BSD-2-Clause
// Names that users give and names that are generated. Control thread.
#pragma once

#include "core/err.h"

int name_check_storage(const char *name, struct err *e);
// The path of a new file or device: no control characters [core/utf8.h]. Restored paths may have
// them, since those disks would be lost.
int name_check_dev(const char *dev, struct err *e);
int name_check_wwn(const char *uuid, struct err *e);
enum { NAME_SECRET_SIZE = 17 };
// 16 letters and digits of 96 random bits: required by RFC 7143, and the maximum of Windows.
void name_new_secret(char out[NAME_SECRET_SIZE]);
void name_new_uuid(char out[40]);
void name_new_alias(char out[11]);
void name_new_iqn(char out[224]);
// The name of an SRP port with a random, locally administered GUID.
void name_new_srp_port(char out[224]);
