// SPDX-License-Identifier: BSD-2-Clause
// Names of what disk.h counts.
#include "initiator/disk/disk.h"

const char *disk_path_state_text(enum disk_path_state s)
{
	static const char *const names[] = { "connecting", "checking", "up", "standby", "faulty" };
	return (unsigned)s < sizeof names / sizeof *names ? names[s] : "unknown";
}

static const struct {
	const char *word, *text;
} notices[DISK_NOTICE_COUNT] = {
	[DISK_RESERVATION_LOST] = {"reservation-lost",
				    "another initiator has taken the persistent reservation or "
				    "registration away (see who has it: farblock-initiator reserve "
				    "URL report; register and reserve again, or detach)"	 },
	[DISK_RESERVATION_CONFLICT] = { "reservation-conflict",
					"requests fail, as another initiator has reserved the disk "
					"(farblock-initiator reserve URL report names it)"},
	[DISK_SPACE_LOW] = { "space-low",
				   "the target's thin pool has reached its soft threshold (enlarge the "
			     "pool, or discard what is unused: fstrim)"			},
	[DISK_SPACE_EXHAUSTED] = { "space-exhausted",
				   "writes fail, as the target's thin pool is full (enlarge the "
				   "pool, or discard what is unused: fstrim)"	      },
	[DISK_NOT_FENCED] = { "not-fenced",
				   "a path was lost with writes under way, and the target cannot say "
			      "that they have ended: newer writes went on after the time of "
			      "--fence-wait (check the data; docs/attach.md)"	      },
	[DISK_TAKEN] = { "taken",
				   "writes fail, as another host has registered with the disk or taken its "
			 "reservation away (farblock-initiator reserve URL report names it; "
			 "detach, and "
			 "attach again when it has gone)"				  },
};

const char *disk_notice_word(enum disk_notice n)
{
	return (unsigned)n < DISK_NOTICE_COUNT ? notices[n].word : "unknown";
}

const char *disk_notice_text(enum disk_notice n)
{
	return (unsigned)n < DISK_NOTICE_COUNT ? notices[n].text : "";
}
