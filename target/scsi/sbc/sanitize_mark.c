// SPDX-License-Identifier: BSD-2-Clause
// <state_dir>/sanitize/<unit serial>, one line: ause=0 or ause=1. Written and removed on the
// offload pool for the home worker, read on the control thread.
#include "target/scsi/sbc/sanitize_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/medium.h"
#include "target/scsi/state_file.h"

#define FOLDER "sanitize"

static const char *text_of(bool ause)
{
	return ause ? "ause=1\n" : "ause=0\n";
}

// The unit's data outlives the program, so that a mark is needed.
static bool is_kept(const struct lu *lu)
{
	return lu->state_dir && !lu->memory;
}

static void mark_write(struct offload *o)
{
	struct sanitize_mark *m = container_of(o, struct sanitize_mark, offload);
	const struct lu *lu = m->lu;
	const char *text = text_of(m->ause);
	struct err e = { 0 };
	m->result = m->is_set ? state_file_write(lu->state_dir, FOLDER, lu->unit_serial, text,
						 strlen(text), &e)
			      : state_file_remove(lu->state_dir, FOLDER, lu->unit_serial, &e);
	if (m->result)
		log_warn("%s: SANITIZE: %s", lu->name, e.text);
}

static void mark_written(struct offload *o)
{
	struct sanitize_mark *m = container_of(o, struct sanitize_mark, offload);
	m->done(m);
}

void sanitize_mark(struct sanitize_mark *m)
{
	m->result = 0;
	if (!is_kept(m->lu)) {
		m->done(m);
		return;
	}
	m->offload.work = mark_write;
	m->offload.done = mark_written;
	offload_submit(&m->offload);
}

// A damaged mark counts, as the stricter kind.
static int attach(struct lu *lu, struct err *e)
{
	char *text = NULL;
	size_t len;
	struct err read_e = { 0 };
	if (!is_kept(lu))
		return 0;
	int r = state_file_read(&text, &len, lu->state_dir, FOLDER, lu->unit_serial, &read_e);
	if (r == -ENOENT)
		return 0;
	lu->sanitize_ause = !r && !strcmp(text, text_of(true));
	lu->sanitize = SANITIZE_FAILED;
	log_warn("%s: SANITIZE unfinished; no medium access until it is run again", lu->name);
	free(text);
	return 0;
}

const struct lu_part sanitize_part = { .attach = attach };
