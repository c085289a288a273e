// SPDX-License-Identifier: BSD-2-Clause
// Asymmetric logical unit access (SPC-4 5.15, 6.37, 6.45): the target port groups of a
// logical unit, their states, and which target port belongs to which group.
//
// Groups are in slots that exist as long as the LU. The control thread creates, changes and deletes
// them; a change of state runs on the LU's home worker (it may take time and is written to a file);
// the I/O path reads states as relaxed atomics.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/attr.h"
#include "core/err.h"

struct lu;
struct lu_part;

enum alua_state {
	ALUA_OPTIMIZED = 0,
	ALUA_NONOPTIMIZED = 1,
	ALUA_IN_STANDBY = 2,
	ALUA_UNAVAILABLE = 3,
	ALUA_LBA_DEPENDENT = 4,
	ALUA_OFFLINE = 14,
	ALUA_TRANSITIONING = 15,
};

// A group's settings under targetcli's names; alua_group_rows describes them.
struct alua_attr {
	uint32_t tg_pt_gp_id; // never set by the row
	uint32_t alua_access_state, alua_access_status, alua_access_type;
	uint32_t alua_write_metadata, preferred;
	uint32_t nonop_delay_msecs, trans_delay_msecs, implicit_trans_secs;
	uint32_t alua_support_offline, alua_support_standby, alua_support_transitioning;
	uint32_t alua_support_active_nonoptimized, alua_support_unavailable;
	uint32_t alua_support_active_optimized, alua_support_lba_dependent;
};
_Static_assert(sizeof(struct alua_attr) == 16 * sizeof(uint32_t), "all fields are uint32_t");
extern const struct attr_row alua_group_rows[]; // of struct alua_attr

#define ALUA_GROUPS_MAX	   64
#define ALUA_NAME_MAX	   64
#define ALUA_DEFAULT_GROUP "default_tg_pt_gp" // id 0, always exists

// The groups, for the configuration. All on the control thread; none blocks for long.
// -EEXIST name or id taken, -ENOSPC too many, -EINVAL bad name or id. id 1..65535.
int alua_group_new(struct lu *lu, const char *name, uint32_t id, struct err *e);
// -ENOENT, -EBUSY if it has ports, -EPERM for the default group.
int alua_group_free(struct lu *lu, const char *name, struct err *e);
// The index-th group in order of creation: its name and a copy of its settings, the number of
// its ports in *ret_members. -ENOENT past the end. Any pointer may be NULL.
int alua_group_at(struct lu *lu, unsigned index, char name[ALUA_NAME_MAX], struct alua_attr *ret,
		  unsigned *ret_members);
// Changes one setting (row of alua_group_rows) from its text. alua_access_state makes an implicit
// transition: done(arg, result) runs on the control thread when it is in force (done may be NULL).
// For alua_write_metadata it runs when the file of saved states is written, for any other row at
// once. After an error done is not run.
int alua_group_set(struct lu *lu, const char *name, const struct attr_row *row, const char *text,
		   void (*done)(void *arg, int result), void *arg, struct err *e);

// Applies the configured settings to a group, without a transition: for a logical unit that no
// initiator sees yet. With alua_write_metadata a state saved by the last run takes precedence over
// the configured one. -ENOENT; -EINVAL: the group does not support the state; the other settings
// are applied.
int alua_group_configure(struct lu *lu, const char *name, const struct alua_attr *attr,
			 struct err *e);

// Sets the group of a relative target port on this LU, and the port's PROTOCOL IDENTIFIER (nexus.h)
// and name (SCSI target port name), which VPD page 88h reports.
// Setting it again moves the port; give every path of a live LUN through it the new group by a new
// LUN map. Control thread. -ENOENT no such group, -ENOMEM.
int alua_port_set(struct lu *lu, uint16_t relative_port, uint16_t group, uint8_t protocol,
		  const char *port_name, struct err *e);
void alua_port_remove(struct lu *lu, uint16_t relative_port);
// Copies the name of a port of lu, and its protocol; false: no port. Any thread.
bool alua_port_name(struct lu *lu, uint16_t relative_port, char *ret, size_t size,
		    uint8_t *ret_protocol);

extern const struct lu_part alua_part;
