// SPDX-License-Identifier: BSD-2-Clause
// The APTPL file (SPC-4 5.13.5): registrations and reservation that survive a loss of power,
// as lines of text in <state_dir>/pr/aptpl_<unit serial>. Names are hexadecimal, so that they
// cannot contain a separator. The parser trusts nothing, although the file has a checksum.
#include "target/scsi/reservations/aptpl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "target/scsi/lu_state.h"
#include "target/scsi/state_file.h"
#include "target/scsi/state_text.h"

#define MAGIC "farblock aptpl 1\n"

static void put_hex(FILE *f, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	if (!len)
		fputc('-', f);
	for (size_t i = 0; i < len; i++)
		fprintf(f, "%02x", p[i]);
}

char *pr_store_format(const struct pr_view *v, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);
	if (!f)
		return NULL;
	fputs(MAGIC, f);
	fprintf(f, "generation %" PRIu32 "\n", v->generation);
	fprintf(f, "type %u\n", v->type);
	fprintf(f, "holder %" PRId64 "\n", v->holder == PR_NOBODY ? -1 : (int64_t)v->holder);
	fprintf(f, "registrations %" PRIu32 "\n", v->count);
	for (uint32_t i = 0; i < v->count; i++) {
		const struct pr_reg *r = &v->regs[i];
		fprintf(f, "%016" PRIx64 " %u %u ", r->key, r->all_tg_pt, r->port.relative_port);
		put_hex(f, r->port.tid.bytes, r->port.tid.len);
		fputc(' ', f);
		put_hex(f, r->port.target_port, strlen(r->port.target_port));
		fputc('\n', f);
	}
	return state_text_close(f, &text);
}

static int digit_of(char ch)
{
	return ch >= '0' && ch <= '9' ? ch - '0' : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

// Decodes hexadecimal digits into at most max bytes; "-" means empty.
static bool take_hex(struct state_text *c, uint8_t *out, size_t max, size_t *ret_len)
{
	size_t n = 0;
	*ret_len = 0;
	if (state_text_take(c, "-"))
		return true;
	while (c->end - c->p >= 2 && digit_of(c->p[0]) >= 0 && digit_of(c->p[1]) >= 0) {
		if (n == max)
			return false;
		out[n++] = (uint8_t)(digit_of(c->p[0]) << 4 | digit_of(c->p[1]));
		c->p += 2;
	}
	*ret_len = n;
	return n;
}

static bool take_reg(struct state_text *c, struct pr_reg *reg)
{
	uint8_t bytes[256];
	uint64_t all, port;
	size_t len, used;
	if (!take_hex(c, bytes, 8, &len) || len != 8)
		return false;
	for (int i = 0; i < 8; i++)
		reg->key = reg->key << 8 | bytes[i];
	if (!reg->key || !state_text_take(c, " ") || !state_text_number(c, 1, &all) ||
	    !state_text_take(c, " ") || !state_text_number(c, UINT16_MAX, &port) ||
	    !state_text_take(c, " "))
		return false;
	reg->all_tg_pt = all;
	reg->port.relative_port = (uint16_t)port;
	if (!take_hex(c, bytes, PR_TID_MAX, &len) ||
	    pr_tid_parse(&reg->port.tid, bytes, len, &used) || used != len ||
	    !state_text_take(c, " "))
		return false;
	if (!take_hex(c, bytes, PR_PORT_MAX - 1, &len) || memchr(bytes, 0, len))
		return false;
	memcpy(reg->port.target_port, bytes, len);
	return state_text_take(c, "\n");
}

static bool take_header(struct state_text *c, struct pr_view *head)
{
	uint64_t generation, type, holder = 0, count;
	if (!state_text_take(c, MAGIC) || !state_text_take(c, "generation ") ||
	    !state_text_number(c, UINT32_MAX, &generation) || !state_text_take(c, "\ntype ") ||
	    !state_text_number(c, PR_EA_AR, &type) || !state_text_take(c, "\nholder "))
		return false;
	bool is_nobody = state_text_take(c, "-1");
	if (!is_nobody && !state_text_number(c, PR_REGS_MAX - 1, &holder))
		return false;
	if (!state_text_take(c, "\nregistrations ") || !state_text_number(c, PR_REGS_MAX, &count) ||
	    !state_text_take(c, "\n"))
		return false;
	bool needs_holder = type && !pr_type_is_all_registrants((unsigned)type);
	if ((type && (!pr_type_is_valid((unsigned)type) || !count)) || needs_holder == is_nobody ||
	    (!is_nobody && holder >= count))
		return false;
	head->generation = (uint32_t)generation;
	head->type = (uint8_t)type;
	head->holder = is_nobody ? PR_NOBODY : (uint32_t)holder;
	head->count = (uint32_t)count;
	return true;
}

int pr_store_parse(struct pr_view **ret, const char *text, size_t len)
{
	struct state_text c = { text, text + len };
	struct pr_view head = { 0 };
	if (!take_header(&c, &head))
		return -EBADMSG;
	struct pr_view *v = pr_view_copy(NULL, head.count);
	if (!v)
		return -ENOMEM;
	v->generation = head.generation;
	v->type = head.type;
	v->holder = head.holder;
	v->aptpl = true;
	for (; v->count < head.count; v->count++)
		if (!take_reg(&c, &v->regs[v->count]))
			break;
	if (v->count < head.count || c.p != c.end) {
		pr_view_put(v);
		return -EBADMSG;
	}
	*ret = v;
	return 0;
}

int pr_store_load(struct pr_view **ret, const struct lu *lu, struct err *e)
{
	char name[64], *text;
	size_t len;
	*ret = NULL;
	if (!lu->state_dir)
		return 0;
	snprintf(name, sizeof name, "aptpl_%s", lu->unit_serial);
	int res = state_file_read(&text, &len, lu->state_dir, "pr", name, e);
	if (res == -ENOENT)
		return 0;
	if (!res) {
		res = pr_store_parse(ret, text, len);
		free(text);
		if (res)
			err_set(e, res, "%s: APTPL file: invalid", lu->name);
	}
	if (res != -EBADMSG)
		return res;
	log_warn("%s: %s; kept aside, its persistent reservations are lost", lu->name,
		 e ? e->text : "APTPL file: damaged");
	state_file_set_aside(lu->state_dir, "pr", name);
	return 0;
}
