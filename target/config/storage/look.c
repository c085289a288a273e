// SPDX-License-Identifier: BSD-2-Clause
// Looks at open storage objects now and then, on the control thread: a file or device that
// grew behind our back is announced (CAPACITY DATA HAS CHANGED), a pool that fills up is
// reported where thin_threshold_percent asks for it, a file or device that was removed or replaced
// is reported, failures of the storage are counted in the log.
#include "target/config/storage/storage.h"
#include "target/scsi/io_log.h"
#include "target/scsi/lu.h"
#include "target/scsi/sbc/thin_threshold.h"

#define LOOK_USEC (IO_LOG_S * 1000000u)

// What is removed while it is open exists until it is closed.
static void look_at_path(struct storage *s)
{
	const char *dev = storage_get_option(s, "dev");
	enum bs_path path = dev ? backstore_path(lu_backstore(s->lu), dev) : BS_PATH_SAME;
	if (path == s->path)
		return;
	s->path = path;
	if (path == BS_PATH_SAME)
		log_info("%s %s: %s is back", s->type->name, s->node.name, dev);
	else
		log_warn("%s %s: %s was %s while in use: its data is lost when farblockd stops or "
			 "the disk is deleted (see farblock doctor disks)",
			 s->type->name, s->node.name, dev,
			 path == BS_PATH_REMOVED ? "removed" : "replaced");
}

static void look_at(struct storage *s)
{
	bool has_changed = false;
	struct err e = { 0 };
	if (!s->lu)
		return;
	if (backstore_refresh(lu_backstore(s->lu), &has_changed, &e) < 0) {
		log_debug("%s %s: %s", s->type->name, s->node.name, e.text);
	} else if (has_changed) {
		uint64_t size = backstore_size(lu_backstore(s->lu));
		bool is_less = size < lu_size(s->lu);
		log_line(is_less ? LOG_LVL_WARN : LOG_LVL_INFO, "%s %s: size is now %llu bytes%s",
			 s->type->name, s->node.name, (unsigned long long)size,
			 is_less ? ", less than before: another program truncated it" : "");
		lu_set_size(s->lu, size);
	}
	look_at_path(s);
	thin_check(s->lu);
	io_log_sweep(s->lu);
}

static void look(struct timer *t)
{
	struct config *c = container_of(t, struct config_storage, look)->config;
	if (c->is_shutting_down)
		return;
	storage_each (s, c)
		look_at(s);
	timer_arm(c->control, t, LOOK_USEC);
}

void storage_look_init(struct config *c)
{
	timer_init(&c->storage->look, look);
	timer_arm(c->control, &c->storage->look, LOOK_USEC);
}
