// SPDX-License-Identifier: BSD-2-Clause
// Shared by fuzzers of complete connections: a portal on loopback with a RAM disk, in this process,
// and sockets that connect to it.
#pragma once

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backstores/backstore.h"
#include "core/log.h"
#include "core/worker.h"
#include "target/fabric/fabric.h"
#include "target/fabric/portal.h"
#include "target/iscsi/settings.h"
#include "../../unit/target/iscsi_fabric.h"
#include "target/scsi/lu.h"
#include "target/scsi/lu_attr.h"
#include "target/scsi/lun_map.h"
#include "target/scsi/nexus.h"
#include "target/scsi/server/device_server.h"
#include "transport/wire/be.h"
#include "transport/wire/iscsi.h"

#define NAME "iqn.2025-01.org.farblock:fuzz"

static struct worker *control;
static struct tcp_addr address;

static void must(int result)
{
	if (result < 0) {
		perror("fuzz");
		abort();
	}
}

static uint16_t free_port(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001) };
	socklen_t len = sizeof in;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	must(bind(fd, (void *)&in, sizeof in));
	must(getsockname(fd, (void *)&in, &len));
	close(fd);
	return ntohs(in.sin_port);
}

static void publish(struct lu *lu)
{
	struct view_target *t = view_target_new(NAME, 1);
	struct view_tpg *g = &t->tpgs[0];
	struct err e;
	struct tpg_settings *own = g->own = view_own_new(sizeof *own);
	attr_defaults(tpg_attr_rows, &own->attr);
	g->tag = g->relative_port = 1;
	g->is_enabled = g->is_open = true;
	own->attr.authentication = 0;
	iscsi_offer_init(&own->offer);
	must(iscsi_offer_set(&own->offer, "MaxRecvDataSegmentLength", "8192", &e));
	g->demo_map = lun_map_new(1);
	g->demo_map->entries[0].number = 0;
	g->demo_map->entries[0].lu = lu;
	g->portals = calloc(1, sizeof *g->portals);
	g->portals[0].addr = address;
	g->portals[0].transports = PORTAL_ALL;
	g->portal_count = 1;
	struct view *v = view_new(&iscsi_fabric, 1);
	v->targets[0] = t;
	view_publish(v);
}

static void *run_control(void *arg)
{
	worker_run(control);
	return NULL;
}

static void start(void)
{
	if (control)
		return;
	struct worker_options co = { .name = "control", .cpu = -1, .is_control = true };
	struct worker_options wo = { .name = "fuzz", .cpu = -1 };
	struct bs_config disk = { .name = "rd0", .size = 1 << 20 };
	struct err e;
	struct lu_attr attr;
	struct worker *w;
	struct backstore *bs;
	struct lu *lu;
	struct portal *p;
	pthread_t thread;
	log_threshold = LOG_LVL_ERROR;
	must(worker_new(&control, &co, &e));
	must(worker_new(&w, &wo, &e));
	must(worker_start(w, &e));
	use_iscsi();
	must(fabrics_start(control, &e));
	must(backstore_open(&bs, backstore_type_find("ramdisk"), &disk, &e));
	attr_defaults(lu_attr_rows, &attr);
	must(lu_new(&lu, &device_server, "rd0", bs, "c8f4e1d2-9b63-4a17-b1f0-7e5522aa3c04", &attr,
		    NULL, &e));
	char text[32];
	snprintf(text, sizeof text, "127.0.0.1:%u", free_port());
	must(tcp_addr_parse(&address, text, 3260, &e));
	publish(lu);
	must(portal_open(&p, &iscsi_fabric, control, &address, PORTAL_ALL, &e));
	must(-pthread_create(&thread, NULL, run_control, NULL));
}

struct words {
	const char *text;
	size_t len;
};

// A Login Request straight to full feature phase; its length, without padding.
static inline size_t login_pdu(uint8_t *out, const struct words *w)
{
	memset(out, 0, ISCSI_BHS_LEN + w->len + 3);
	out[0] = 0x43;
	out[1] = 0x87;
	put_be24(out + 5, (uint32_t)w->len);
	out[8] = 0x80;
	memcpy(out + ISCSI_BHS_LEN, w->text, w->len);
	return ISCSI_BHS_LEN + w->len;
}

static void drain(int fd, int flags)
{
	char bin[16384];
	while (recv(fd, bin, sizeof bin, flags) > 0)
		;
}

// Each time from another address of 127/8: there are more runs than ports.
static int connect_anew(void)
{
	static uint32_t run;
	struct sockaddr_in from = { .sin_family = AF_INET };
	from.sin_addr.s_addr = htonl(0x7f000001 + run++ % 0xfffffd);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	must(fd);
	must(bind(fd, (void *)&from, sizeof from));
	if (!connect(fd, &address.sa, sizeof address.in4))
		return fd;
	must(errno == EINTR ? 0 : -1); // libFuzzer's alarm
	close(fd);
	return connect_anew();
}

// Sends n bytes, sees the target end the connection.
static void converse(const uint8_t *wire, size_t n)
{
	int fd = connect_anew();
	for (size_t at = 0; at < n;) {
		size_t step = n - at < 4096 ? n - at : 4096;
		if (send(fd, wire + at, step, MSG_NOSIGNAL) < 0)
			break;
		at += step;
		drain(fd, MSG_DONTWAIT);
	}
	shutdown(fd, SHUT_WR);
	drain(fd, 0);
	close(fd);
}
