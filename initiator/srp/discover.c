// SPDX-License-Identifier: BSD-2-Clause
// Discovery: a session to srp_list_port and one INQUIRY. The program's thread; blocks.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/scsi_cdb.h"
#include "initiator/srp/sync.h"

#define TIMEOUT 10 // seconds for the list
#define EVPD	0x01

static int fetch(struct scsi_sync *y, uint8_t *page, uint32_t *ret_len, struct err *e)
{
	struct scsi_sync_cmd c;
	const struct scsi_args args = { .len = SRP_LIST_MAX, .flags = EVPD, .page = SRP_LIST_PAGE };
	char text[160];
	scsi_cmd_set(&c.cmd, 0, SCSI_INQUIRY, &args, page, SRP_LIST_MAX);
	int r = scsi_sync_run(y, &c);
	*ret_len = c.cmd.data_len;
	if (!r && scsi_cmd_is_good(&c.cmd))
		return 0;
	if (!r) {
		scsi_cmd_text(&c.cmd, text, sizeof text);
		return err_set(e, -EIO, "discovery: %s", text);
	}
	scsi_sync_why(y, e);
	if (!e->code)
		err_errno(e, r, "discovery");
	return r;
}

// The interface of a link-local address is this machine's: that of the portal that was asked.
static void set_interface(struct tcp_addr *a, const struct srps_config *c)
{
	if (a->sa.sa_family != AF_INET6 || !tcp_addr_is_link_local(a))
		return;
	for (unsigned i = 0; i < c->portal_count; i++)
		if (c->portals[i].sa.sa_family == AF_INET6 && !a->in6.sin6_scope_id)
			a->in6.sin6_scope_id = c->portals[i].in6.sin6_scope_id;
}

// An invalid list reports nothing.
static int report(const uint8_t *page, uint32_t len, const struct srps_config *c,
		  void (*found)(void *arg, const struct srp_listed *one), void *arg,
		  bool *ret_is_cut, struct err *e)
{
	struct srp_list start, l;
	struct srp_listed one;
	int r = srp_list_parse(&start, page, len, e);
	if (r)
		return r;
	for (l = start; (r = srp_list_next(&l, &one, e)) > 0;)
		;
	if (r)
		return r;
	*ret_is_cut = start.is_cut;
	for (l = start; srp_list_next(&l, &one, e) > 0;) {
		set_interface(&one.portal, c);
		found(arg, &one);
	}
	return 0;
}

int srps_sync_discover(const struct srps_config *config,
		       void (*found)(void *arg, const struct srp_listed *one), void *arg,
		       bool *ret_is_cut, struct err *e)
{
	struct srps_config c = *config;
	struct scsi_sync *y = NULL;
	uint32_t len = 0;
	uint8_t *page = calloc(1, SRP_LIST_MAX);
	if (!page)
		return err_set(e, -ENOMEM, "discovery: out of memory");
	memcpy(c.target, srp_list_port, sizeof c.target);
	c.channels = 1;
	c.it_iu_len = SRP_IU_MIN;
	c.command_timeout = TIMEOUT;
	c.replacement_timeout = 0;
	int r = scsi_sync_open(&y, srps_session_new, &c, NULL, e);
	if (!r)
		r = fetch(y, page, &len, e);
	scsi_sync_close(y);
	if (!r)
		r = report(page, len, &c, found, arg, ret_is_cut, e);
	free(page);
	return r;
}
