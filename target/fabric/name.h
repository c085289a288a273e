// SPDX-License-Identifier: BSD-2-Clause
// Names of targets and initiators in the form of their fabric: of iSCSI up to 223 bytes (RFC 7143
// 4.2.7.2), of SRP "ib." and 32 hex digits. A host is a name of the administrator, for several
// ACLs.
#pragma once

enum {
	FABRIC_NAME_SIZE = 224,			  // with its NUL
	FABRIC_PORT_SIZE = FABRIC_NAME_SIZE + 32, // a port: the name and what distinguishes it
	FABRIC_HOST_SIZE = 64,			  // of an ACL, with its NUL
};
