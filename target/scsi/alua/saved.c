// SPDX-License-Identifier: BSD-2-Clause
// The file of access states that survive a restart (alua_write_metadata):
// <state_dir>/alua/tpgs_<unit serial>, a line for each group.
#include "target/scsi/alua/saved.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/log.h"
#include "target/scsi/state_file.h"
#include "target/scsi/state_text.h"

#define MAGIC "farblock alua 1\n"

char *alua_saved_format(const struct alua *a, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);
	if (!f)
		return NULL;
	fputs(MAGIC, f);
	for (unsigned i = 0; i < a->nslots; i++) {
		const struct alua_slot *s = &a->slots[i];
		if (alua_load(&s->id) != ALUA_SLOT_FREE && alua_load(&s->attr.alua_write_metadata))
			fprintf(f, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", alua_load(&s->id),
				alua_load(&s->attr.alua_access_state),
				alua_load(&s->attr.alua_access_status));
	}
	return state_text_close(f, &text);
}

static bool take_state(struct state_text *t, struct alua_saved *ret)
{
	uint64_t id, state, status;
	if (!state_text_number(t, UINT16_MAX, &id) || !state_text_take(t, " ") ||
	    !state_text_number(t, ALUA_OFFLINE, &state) || !state_text_take(t, " ") ||
	    !state_text_number(t, 2, &status) || !state_text_take(t, "\n"))
		return false;
	*ret = (struct alua_saved){ (uint16_t)id, (uint8_t)state, (uint8_t)status };
	return true;
}

int alua_saved_parse(struct alua_saved *ret, uint32_t *ret_n, const char *text, size_t len)
{
	struct state_text t = { text, text + len };
	uint32_t n = 0;
	*ret_n = 0;
	if (!state_text_take(&t, MAGIC))
		return -EBADMSG;
	for (; t.p < t.end; n++) {
		if (n == ALUA_GROUPS_MAX || !take_state(&t, &ret[n]))
			return -EBADMSG;
	}
	*ret_n = n;
	return 0;
}

#define FOLDER "alua"

static void file_name(char *ret, size_t size, const struct lu *lu)
{
	snprintf(ret, size, "tpgs_%s", lu->unit_serial);
}

int alua_saved_write(const struct lu *lu, const char *text, size_t len)
{
	char name[64];
	file_name(name, sizeof name, lu);
	return state_file_write(lu->state_dir, FOLDER, name, text, len, NULL) ? -EIO : 0;
}

void alua_saved_load(struct lu *lu)
{
	struct alua *a = lu->alua;
	struct err e = { 0 };
	char name[64], *text;
	size_t len;
	if (!lu->state_dir)
		return;
	file_name(name, sizeof name, lu);
	int res = state_file_read(&text, &len, lu->state_dir, FOLDER, name, &e);
	if (!res) {
		res = alua_saved_parse(a->saved, &a->nsaved, text, len);
		free(text);
	}
	if (res != -EBADMSG)
		return;
	log_warn("%s: ALUA states: file damaged and kept aside, all groups start "
		 "active/optimized",
		 lu->name);
	state_file_set_aside(lu->state_dir, FOLDER, name);
}
