// SPDX-License-Identifier: BSD-2-Clause
// The settings of iSCSI that other fabrics do not have, as rows and as the structs that hang on the
// published configuration (target/fabric/view.h): view_tpg.own and view_acl.own.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/attr.h"
#include "target/fabric/settings.h"
#include "target/fabric/view.h"
#include "transport/iscsi/keys.h"

struct tpg_attr { // rows: tpg_attr_rows (targetcli's names first)
	uint32_t authentication, generate_node_acls, demo_mode_write_protect;
	uint32_t prod_mode_write_protect, demo_mode_discovery, cache_dynamic_acls;
	uint32_t tpg_enabled_sendtargets, login_timeout, netif_timeout, default_cmdsn_depth;
	uint32_t default_erl, t10_pi, fabric_prot_type, login_keys_workaround;
	// ours
	uint32_t chap_algorithms;    // bits 5..8, the permitted CHAP_A: 1<<5 MD5 ...
	char redirect[128];	     // host:port to redirect logins to (status 0101); empty: none
	char allowed_addresses[512]; // comma-separated address/prefix; empty: any
	char alias[256];
	uint32_t nopin_timeout, nopin_response_timeout, dataout_timeout; // demo-mode sessions
	uint32_t iser_unsolicited_data; // the parameter InitialR2T also applies to iSER
};
extern const struct attr_row tpg_attr_rows[];

struct acl_attr {		// rows: acl_attr_rows
	int32_t authentication; // -1: from the TPG
	uint32_t dataout_timeout, dataout_timeout_retries, nopin_timeout, nopin_response_timeout;
	uint32_t default_erl, random_datain_pdu_offsets, random_datain_seq_offsets;
	uint32_t random_r2t_offsets;
	uint32_t cmdsn_depth; // 0: the TPG's default_cmdsn_depth
};
extern const struct attr_row acl_attr_rows[];
extern const struct fabric_preset acl_presets[];

// view_tpg.own
struct tpg_settings {
	struct tpg_attr attr;
	struct iscsi_offer offer; // from the TPG's parameters
};

// ---- slots of struct fabric_ops ----
// The negotiated values of a session (negotiated.c).
extern const struct attr_row iscsi_negotiated_rows[];
void tpg_settings_init(void *own);
int tpg_settings_check(const void *own, struct err *e);
void tpg_settings_access(const void *own, struct fabric_access *ret);
int acl_settings_need_credentials(const void *own);

// ---- params.c: parameters of a portal group, the keys that it offers [RFC 7143 13] ----
const struct attr_row *iscsi_param_rows(void);
int iscsi_param_set(void *group, const struct attr_row *row, const char *text, struct err *e);
size_t iscsi_param_get(const void *group, const struct attr_row *row, char *out, size_t size);

static inline const struct tpg_settings *tpg_settings(const struct view_tpg *tpg)
{
	return tpg->own;
}

static inline const struct acl_attr *acl_settings(const struct view_acl *acl)
{
	return acl->own;
}
