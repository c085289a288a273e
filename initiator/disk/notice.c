// SPDX-License-Identifier: BSD-2-Clause
// Notices of a disk: reservations and thin pools. On the disk's worker. SPC-5 5.14, SBC-4 4.7.3.
#include "initiator/disk/disk_priv.h"

#define HOLD_SECONDS  60
#define OVER_BY_WRITE (1u << DISK_RESERVATION_CONFLICT | 1u << DISK_SPACE_EXHAUSTED)

void notice_set(struct disk *d, enum disk_notice n)
{
	bool is_new = !(d->notices & 1u << n);
	d->notices |= 1u << n;
	d->notice_ns[n] = worker_now(d->worker);
	if (is_new && d->ops.notice)
		d->ops.notice(d->arg, n, false);
}

// 2A/03 reservations preempted, 2A/04 reservations released, 2A/05 registrations preempted; 38/07
// thin provisioning soft threshold reached. A reservation of the disk's own looks who did it.
void notice_attention(struct disk_path *p, uint8_t asc, uint8_t ascq)
{
	struct disk *d = p->disk;
	bool is_of_reservation = asc == 0x2a && ascq >= 3 && ascq <= 5;
	if (is_of_reservation && d->reservation.is_on)
		path_unregistered(p);
	else if (is_of_reservation)
		notice_set(d, DISK_RESERVATION_LOST);
	else if (asc == 0x38 && ascq == 7)
		notice_set(d, DISK_SPACE_LOW);
}

// In a full pool what is mapped can be written, so that one write does not end it.
void notice_written(struct disk *d)
{
	uint64_t now = d->notices & OVER_BY_WRITE ? worker_now(d->worker) : 0;
	for (unsigned n = 0; now && n < DISK_NOTICE_COUNT; n++) {
		if (!(d->notices & OVER_BY_WRITE & 1u << n) ||
		    now - d->notice_ns[n] < HOLD_SECONDS * NS_PER_SEC)
			continue;
		d->notices &= ~(1u << n);
		if (d->ops.notice)
			d->ops.notice(d->arg, (enum disk_notice)n, true);
	}
}
