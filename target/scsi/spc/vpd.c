// SPDX-License-Identifier: BSD-2-Clause
// Vital product data pages (SPC-4 7.8): the table, and the small pages. Task's worker.
#include <string.h>

#include "target/scsi/copy/commands.h"
#include "target/scsi/handler.h"
#include "target/scsi/lu.h"
#include "target/scsi/spc/inquiry.h"
#include "target/scsi/spc/mode.h"
#include "transport/wire/be.h"

static unsigned supported_pages(const struct task *t, uint8_t *out);

static unsigned unit_serial(const struct task *t, uint8_t *out)
{
	size_t n = strlen(t->lu->unit_serial);
	memcpy(out + 4, t->lu->unit_serial, n);
	return 4 + (unsigned)n;
}

// Extended INQUIRY Data (SPC-4 7.8.7).
static unsigned extended_inquiry(const struct task *t, uint8_t *out)
{
	out[5] = 0x07; // HEADSUP, ORDSUP, SIMPSUP
	const struct bs_limits *l = &t->lu->bs->limits;
	// V_SUP. A RAM disk is completely volatile: after a power on an initiator must know that
	// writes without a write cache are lost as well.
	out[6] = l->has_write_cache || l->is_volatile ? 0x01 : 0;
	out[7] = 0x01; // LUICLR: unit attentions are per I_T nexus
	return 64;
}

// Mode Page Policy (SPC-4 7.8.10): all pages are shared by all nexuses.
static unsigned mode_page_policy(const struct task *t, uint8_t *out)
{
	out[4] = 0x3f;
	out[5] = 0xff;
	return 8;
}

// Vendor specific: what initiators may rely on before they repeat a write on another path. Flags:
// 1: REMOVE I_T NEXUS completes when nothing of the removed nexuses can reach the storage any more;
// 2, 4: so does an iSCSI login that reinstates a session, an SRP login that ends older channels.
// All of that only for nexuses of the farblockd with this id.
static unsigned fences(const struct task *t, uint8_t *out)
{
	memcpy(out + 4, "FARBLOCK", 8);
	out[12] = 0x07;
	put_be64(out + 20, lu_server_id());
	return 28;
}

// In ascending order, page 00h first (SPC-4 7.8.14).
static const struct vpd_page pages[] = {
	{0x00,	supported_pages,	 NULL},
	{ 0x80, unit_serial,	     NULL},
	{ 0x83, vpd_device_id,    NULL},
	{ 0x86, extended_inquiry, NULL},
	{ 0x87, mode_page_policy, NULL},
	{ 0x88, vpd_scsi_ports,	NULL, VPD_PORTS_MAX },
	{ 0x8f,	vpd_third_party,		 third_party_is_available },
	{ 0xb0,	vpd_block_limits,		  NULL},
	{ 0xb1,	vpd_block_device,		  NULL },
	{ 0xb2,	vpd_provisioning,		  NULL},
	{ 0xf0,	fences,		NULL	     },
};

static bool is_there(const struct vpd_page *p, const struct lu *lu)
{
	return !p->is_available || p->is_available(lu);
}

static unsigned supported_pages(const struct task *t, uint8_t *out)
{
	unsigned n = 4;
	for (unsigned i = 0; i < sizeof pages / sizeof pages[0]; i++) {
		if (is_there(&pages[i], t->lu))
			out[n++] = pages[i].code;
	}
	return n;
}

static const struct vpd_page *page_of(const struct lu *lu, uint8_t code)
{
	for (unsigned i = 0; i < sizeof pages / sizeof pages[0]; i++)
		if (pages[i].code == code && is_there(&pages[i], lu))
			return &pages[i];
	return NULL;
}

void vpd_run(struct task *t, uint8_t code, uint16_t alloc)
{
	const struct vpd_page *page = page_of(t->lu, code);
	uint8_t small[VPD_MAX] = { 0 }, *out = small;
	if (!page) {
		task_invalid_cdb(t, 2, -1);
		return;
	}
	if (page->size && !(out = task_scratch(t, page->size)))
		return;
	unsigned n = page->build(t, out);
	out[1] = code;
	put_be16(out + 2, (uint16_t)(n - 4));
	task_reply(t, out, n, alloc);
}
