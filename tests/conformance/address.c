// SPDX-License-Identifier: BSD-2-Clause
// Sessions by address: SRP or iSER, over software iWARP.
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/iscsi/initiator.h"
#include "initiator/srp/address.h"
#include "initiator/srp/initiator.h"
#include "session.h"
#include "transport/rdma/rnic.h"

#define SRP_PREFIX "ib."

struct cs_config {
	bool is_srp;
	struct srps_config srp;
	struct ini_config iscsi;
};

bool cs_is_srp(const struct cs_address *a)
{
	return !strncmp(a->target, SRP_PREFIX, strlen(SRP_PREFIX));
}

static int resolve(struct tcp_addr *portals, unsigned *ret_count, const char *portal,
		   uint16_t default_port, struct err *e)
{
	int n = tcp_addr_resolve(portals, 1, portal, default_port, e);
	*ret_count = n > 0 ? (unsigned)n : 0;
	return n < 0 ? n : n ? 0 : err_set(e, -ENOENT, "%.80s: no address found", portal);
}

// As farblock-initiator derives it, but for the extension: the first half of the SHA-256 of the
// name.
static int initiator_port(const struct cs_address *a, uint8_t ret[SRP_PORT_ID_LEN], struct err *e)
{
	const char *name = a->initiator;
	uint8_t hash[EVP_MAX_MD_SIZE];
	if (!EVP_Digest(name, strlen(name), hash, NULL, EVP_sha256(), NULL))
		return err_set(e, -EIO, "initiator port: SHA-256 failed");
	memset(ret, 0, SRP_PORT_ID_LEN / 2);
	ret[SRP_PORT_ID_LEN / 2 - 1] = a->extension;
	memcpy(ret + SRP_PORT_ID_LEN / 2, hash, SRP_PORT_ID_LEN / 2);
	return 0;
}

// From the environment: how many channels, and how long the initiator's IUs are, which decides
// between immediate data and descriptors.
static unsigned wanted(const char *name, unsigned otherwise)
{
	const char *value = getenv(name);
	return value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
}

// A lost session stays lost, so that the program notices.
static int srp_config(struct srps_config *c, const struct cs_address *a, struct err *e)
{
	const char *id = a->target + strlen(SRP_PREFIX);
	char text[SRPS_PORT_ID_TEXT];
	srps_config_init(c);
	c->providers[c->provider_count++] = &rnic_iwarp;
	c->command_timeout = 0;
	c->replacement_timeout = 0;
	c->channels = wanted("CONFORMANCE_CHANNELS", c->channels);
	c->it_iu_len = wanted("CONFORMANCE_IU_LEN", c->it_iu_len);
	snprintf(text, sizeof text, "%.16s:%.16s", id, strlen(id) > 16 ? id + 16 : "");
	int r = srps_port_id_parse(text, c->target, e);
	if (!r)
		r = initiator_port(a, c->initiator, e);
	return r ? r : resolve(c->portals, &c->portal_count, a->portal, SRPS_PORT, e);
}

// A cold reset ends a session, which is then restored.
static int iser_config(struct ini_config *c, const struct cs_address *a, struct err *e)
{
	ini_config_init(c);
	c->providers[c->provider_count++] = &rnic_iwarp;
	c->command_timeout = 0;
	snprintf(c->login.initiator_name, sizeof c->login.initiator_name, "%s", a->initiator);
	snprintf(c->login.target_name, sizeof c->login.target_name, "%s", a->target);
	return resolve(c->portals, &c->portal_count, a->portal, 3260, e);
}

int cs_config_new(struct cs_config **ret, const struct cs_address *a, struct err *e)
{
	struct cs_config *c = calloc(1, sizeof *c);
	if (!c)
		return err_set(e, -ENOMEM, "session: out of memory");
	c->is_srp = cs_is_srp(a);
	int r = c->is_srp ? srp_config(&c->srp, a, e) : iser_config(&c->iscsi, a, e);
	if (r)
		free(c);
	else
		*ret = c;
	return r;
}

int cs_config_open(const struct cs_config *c, struct scsi_session **ret, struct worker *w,
		   const struct scsi_session_ops *ops, void *arg, struct err *e)
{
	return c->is_srp ? srps_session_new(ret, w, &c->srp, ops, arg, e)
			 : ini_session_new(ret, w, &c->iscsi, ops, arg, e);
}
