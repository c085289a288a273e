// SPDX-License-Identifier: BSD-2-Clause
// Sense data and status, parsed with bounds and formatted. Pure functions. SPC-5 4.4, SAM-5 5.3.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "initiator/scsi_cdb.h"

#define KEY_NO_SENSE	    0
#define KEY_ILLEGAL_REQUEST 5

bool scsi_sense_parse(const uint8_t *sense, size_t len, struct scsi_sense *ret)
{
	uint8_t format = len ? sense[0] & 0x7f : 0;
	if ((format == 0x70 || format == 0x71) && len > 2) {
		// Short sense data may lack ASC and ASCQ.
		*ret = (struct scsi_sense){ .key = sense[2] & 0xf,
					    .asc = len > 12 ? sense[12] : 0,
					    .ascq = len > 13 ? sense[13] : 0,
					    .is_deferred = format == 0x71 };
		return true;
	}
	if ((format == 0x72 || format == 0x73) && len > 3) {
		*ret = (struct scsi_sense){ .key = sense[1] & 0xf,
					    .asc = sense[2],
					    .ascq = sense[3],
					    .is_deferred = format == 0x73 };
		return true;
	}
	return false;
}

static const struct {
	uint8_t status;
	const char *text;
} statuses[] = {
	{SCSI_GOOD,		     "GOOD"		    },
	{ SCSI_CHECK_CONDITION,	"CHECK CONDITION"	  },
	{ SCSI_CONDITION_MET,	      "CONDITION MET"	      },
	{ SCSI_BUSY,		     "BUSY"		    },
	{ SCSI_RESERVATION_CONFLICT, "RESERVATION CONFLICT"},
	{ SCSI_TASK_SET_FULL,	      "TASK SET FULL"	      },
	{ 0x30,		      "ACA ACTIVE"	     },
	{ 0x40,		      "TASK ABORTED"	       },
};

const char *scsi_status_text(uint8_t status)
{
	for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i].status == status)
			return statuses[i].text;
	return "unknown status";
}

static const char *const keys[16] = {
	"NO SENSE",	  "RECOVERED ERROR", "NOT READY",      "MEDIUM ERROR",
	"HARDWARE ERROR", "ILLEGAL REQUEST", "UNIT ATTENTION", "DATA PROTECT",
	"BLANK CHECK",	  "VENDOR SPECIFIC", "COPY ABORTED",   "ABORTED COMMAND",
	"sense key 0x0c", "VOLUME OVERFLOW", "MISCOMPARE",     "COMPLETED",
};

const char *scsi_sense_key_text(uint8_t key)
{
	return keys[key & 0xf];
}

// Common codes of disks; others are shown as numbers.
static const struct {
	uint8_t asc, ascq;
	const char *text;
} codes[] = {
	{0x04,	0x00, "not ready"				  },
	{ 0x04, 0x01, "becoming ready"		       },
	{ 0x04, 0x02, "initializing command required"	      },
	{ 0x04, 0x0a, "access state transition"		},
	{ 0x04, 0x0b, "target port in standby state"	     },
	{ 0x04, 0x0c, "target port in unavailable state"	 },
	{ 0x0c, 0x0c, "unexpected unsolicited data"	    },
	{ 0x0c, 0x0d, "incorrect amount of data"		 },
	{ 0x11, 0x00, "unrecovered read error"	       },
	{ 0x1a, 0x00, "parameter list length error"	    },
	{ 0x1d, 0x00, "miscompare during verify"		 },
	{ 0x20, 0x00, "invalid command operation code"       },
	{ 0x21, 0x00, "logical block address out of range"   },
	{ 0x23, 0x04, "token unknown"			      },
	{ 0x23, 0x05, "token corrupt"			      },
	{ 0x23, 0x06, "token revoked"			      },
	{ 0x23, 0x07, "token expired"			      },
	{ 0x23, 0x09, "token deleted"			      },
	{ 0x24, 0x00, "invalid field in CDB"		     },
	{ 0x25, 0x00, "logical unit not supported"	   },
	{ 0x26, 0x00, "invalid field in parameter list"	},
	{ 0x27, 0x00, "write protected"			},
	{ 0x27, 0x07, "space allocation failed"		},
	{ 0x29, 0x00, "power on, reset or bus device reset"  },
	{ 0x29, 0x07, "I_T nexus loss"		       },
	{ 0x2a, 0x09, "capacity data has changed"		  },
	{ 0x2f, 0x00, "commands cleared by another initiator"},
	{ 0x3a, 0x00, "medium not present"		   },
	{ 0x3f, 0x0e, "reported LUNs data has changed"       },
	{ 0x44, 0x00, "internal target failure"		},
	{ 0x47, 0x05, "protocol service CRC error"	   },
};

static const char *code_text(const struct scsi_sense *s)
{
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (codes[i].asc == s->asc && codes[i].ascq == s->ascq)
			return codes[i].text;
	return NULL;
}

bool scsi_cmd_is_good(const struct scsi_cmd *c)
{
	return !c->res && (c->status == SCSI_GOOD || c->status == SCSI_CONDITION_MET);
}

bool scsi_cmd_is_refused(const struct scsi_cmd *c)
{
	struct scsi_sense s;
	if (c->res || c->status != SCSI_CHECK_CONDITION)
		return false;
	return !c->sense_len || (scsi_sense_parse(c->sense, c->sense_len, &s) &&
				 (s.key == KEY_NO_SENSE || s.key == KEY_ILLEGAL_REQUEST));
}

bool scsi_cmd_is_absent(const struct scsi_cmd *c)
{
	struct scsi_sense s;
	return !c->res && c->status == SCSI_CHECK_CONDITION &&
	       scsi_sense_parse(c->sense, c->sense_len, &s) && s.key == KEY_ILLEGAL_REQUEST &&
	       s.asc == 0x25 && s.ascq == 0;
}

static void failure_text(const struct scsi_cmd *c, char *ret, size_t size)
{
	if (c->res == -EREMOTEIO && c->refusal[0])
		snprintf(ret, size, "target refused the command, %s", c->refusal);
	else if (c->res == -ETIMEDOUT && c->is_ungranted)
		snprintf(ret, size, "timed out before it was sent: the target grants no requests");
	else
		snprintf(ret, size, "%s%s", strerror(-c->res),
			 c->res == -ENOMEM
				 ? " (raise the limit of locked memory: ulimit -l unlimited)"
				 : "");
}

void scsi_cmd_text(const struct scsi_cmd *c, char *ret, size_t size)
{
	struct scsi_sense s;
	*ret = 0;
	if (scsi_cmd_is_good(c))
		return;
	if (c->res) {
		failure_text(c, ret, size);
		return;
	}
	if (c->status != SCSI_CHECK_CONDITION) {
		snprintf(ret, size, "%s (0x%02x)", scsi_status_text(c->status), c->status);
		return;
	}
	if (!scsi_sense_parse(c->sense, c->sense_len, &s)) {
		snprintf(ret, size, "CHECK CONDITION without valid sense data");
		return;
	}
	const char *text = code_text(&s);
	snprintf(ret, size, "%s%s%s (%02x/%02x/%02x)", scsi_sense_key_text(s.key), text ? ", " : "",
		 text ? text : "", s.key, s.asc, s.ascq);
}
