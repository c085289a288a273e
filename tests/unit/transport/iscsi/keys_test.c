// SPDX-License-Identifier: BSD-2-Clause
// The key table: each key's rule, offers as a configuration sets them, collecting a text.
#include "transport/iscsi/keys.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct iscsi_offer offer;
static struct iscsi_params params;
static struct text_out out;
static char buf[8192];
static struct err e;

static int setup(void **state)
{
	iscsi_offer_init(&offer);
	iscsi_params_init(&params);
	text_out_init(&out, buf, sizeof buf);
	return 0;
}

static unsigned id_of(const char *name)
{
	int id = iscsi_key_find(name, strlen(name));
	assert_true(id >= 0);
	return (unsigned)id;
}

// Offers value for key; the answer must be the one given (NULL: none).
static void answer(const char *key, const char *value, const char *expected)
{
	char pair[128] = "";
	text_out_init(&out, buf, sizeof buf);
	buf[0] = 0;
	assert_int_equal(iscsi_key_answer(id_of(key), value, &offer, &params, &out, &e), 0);
	if (expected)
		snprintf(pair, sizeof pair, "%s=%s", key, expected);
	assert_string_equal(buf, pair);
}

static void test_every_key_answers_by_its_rule(void **state)
{
	static const struct {
		const char *key, *ours, *offered, *answer;
	} rows[] = {
		{"HeaderDigest",			  "CRC32C,None",	 "None,CRC32C",		"None"      },
		{ "HeaderDigest",			  "None,CRC32C",	 "CRC32C,None",		"CRC32C"	 },
		{ "HeaderDigest",			  "None",		  "CRC32C,None",		 "None"	},
		{ "HeaderDigest",			  "None",		  "CRC32C",		    "Reject"    },
		{ "DataDigest",			"CRC32C",		  "None,CRC32C",		 "CRC32C"	  },
		{ "DataDigest",			"CRC32C,None",       "Y-crc64,None",	       "None"      },
		{ "DataDigest",			"CRC32C,None",       "",			   "Reject"    },
		{ "MaxConnections",		    "1",		 "8",			      "1"	  },
		{ "MaxConnections",		    "1",		 "0",			      "Reject"    },
		{ "MaxConnections",		    "1",		 "65536",			  "Reject"	   },
		{ "InitialR2T",			"No",		      "No",			    "No"	 },
		{ "InitialR2T",			"Yes",	       "No",			     "Yes"	   },
		{ "InitialR2T",			"No",		      "Yes",		     "Yes"	   },
		{ "InitialR2T",			"No",		      "maybe",		       "Reject"	},
		{ "ImmediateData",			   "Yes",		  "Yes",			 "Yes"       },
		{ "ImmediateData",			   "No",		 "Yes",			"No"	     },
		{ "ImmediateData",			   "Yes",		  "No",			"No"	     },
		{ "MaxBurstLength",		    "1048576",	       "16776192",		   "1048576"   },
		{ "MaxBurstLength",		    "1048576",	       "0x10000",		  "65536"	  },
		{ "MaxBurstLength",		    "1048576",	       "511",		      "Reject"    },
		{ "MaxBurstLength",		    "1048576",	       "16777216",		   "Reject"    },
		{ "MaxBurstLength",		    "1048576",	       "1k",			     "Reject"    },
		{ "FirstBurstLength",		      "262144",		"65536",			 "65536"	 },
		{ "FirstBurstLength",		      "65536",	       "262144",			 "65536"	 },
		{ "DefaultTime2Wait",		      "2",		   "0",			"2"	    },
		{ "DefaultTime2Wait",		      "2",		   "10",			 "10"	      },
		{ "DefaultTime2Wait",		      "2",		   "3601",			   "Reject"    },
		{ "DefaultTime2Retain",		"20",		      "0",			   "0"	       },
		{ "DefaultTime2Retain",		"20",		      "60",			    "20"	 },
		{ "MaxOutstandingR2T",		       "8",		    "1",			 "1"	     },
		{ "MaxOutstandingR2T",		       "8",		    "16",			  "8"	      },
		{ "DataPDUInOrder",		    NULL,		  "No",			"Yes"	      },
		{ "DataSequenceInOrder",		 NULL,		       "Yes",		      "Yes"	    },
		{ "ErrorRecoveryLevel",		NULL,		      "2",			   "0"	       },
		{ "ErrorRecoveryLevel",		NULL,		      "3",			   "Reject"    },
		{ "TaskReporting",			   NULL,		 "FastAbort,RFC3720",	      "RFC3720"	},
		{ "TaskReporting",			   "FastAbort,RFC3720", "ResponseFence,FastAbort", "FastAbort" },
		{ "iSCSIProtocolLevel",		"2",		     "2",			  "2"	      },
		{ "iSCSIProtocolLevel",		"2",		     "1",			  "1"	      },
		{ "IFMarker",			      NULL,		    "No",			  "No"	       },
		{ "OFMarker",			      NULL,		    "Yes",			   "No"	},
		{ "IFMarkInt",			       NULL,		     "2048",		     "Reject"    },
		{ "OFMarkInt",			       NULL,		     "2048",		     "Reject"    },
		{ "X#NodeArchitecture",		NULL,		      "toaster",		 NULL	      },
		{ "MaxRecvDataSegmentLength",	      NULL,		    "65536",		     NULL	  },
		{ "RDMAExtensions",		    NULL,		  "Yes",			 "No"	      },
		{ "TargetRecvDataSegmentLength",	 NULL,		       "8192",		       "Irrelevant"},
		{ "InitiatorRecvDataSegmentLength",   NULL,		  "8192",			  "Irrelevant"},
		{ "MaxOutstandingUnexpectedPDUs",	  NULL,		"12",		      NULL	   },
		{ "MaxAHSLength",			  NULL,		"0",			     NULL	  },
		{ "iSERHelloRequired",		       NULL,		     "No",			   NULL	},
		{ "TaggedBufferForSolicitedDataOnly", NULL,		    "Yes",			   NULL	},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		setup(NULL);
		if (rows[i].ours)
			assert_int_equal(iscsi_offer_set(&offer, rows[i].key, rows[i].ours, &e), 0);
		answer(rows[i].key, rows[i].offered, rows[i].answer);
	}
}

static void test_results_reach_the_params(void **state)
{
	answer("HeaderDigest", "CRC32C", "CRC32C");
	answer("MaxBurstLength", "524288", "524288");
	answer("InitialR2T", "No", "No");
	answer("MaxRecvDataSegmentLength", "131072", NULL);
	answer("MaxOutstandingR2T", "4", "4");
	assert_true(params.header_digest);
	assert_false(params.data_digest);
	assert_int_equal(params.max_burst, 524288);
	assert_false(params.initial_r2t);
	assert_int_equal(params.max_send_data, 131072);
	assert_int_equal(params.max_outstanding_r2t, 4);
}

static void test_the_standard_rules_where_nothing_is_said(void **state)
{
	assert_int_equal(params.max_recv_data, 8192);
	assert_int_equal(params.max_send_data, 8192);
	assert_int_equal(params.max_burst, 262144);
	assert_int_equal(params.first_burst, 65536);
	assert_int_equal(params.max_outstanding_r2t, 1);
	assert_int_equal(params.max_connections, 1);
	assert_int_equal(params.time2wait, 2);
	assert_int_equal(params.time2retain, 20);
	assert_int_equal(params.protocol_level, 1);
	assert_true(params.initial_r2t && params.immediate_data);
	assert_true(params.data_pdu_in_order && params.data_sequence_in_order);
	assert_false(params.header_digest || params.data_digest);
}

static void test_a_rejected_value_leaves_the_standard(void **state)
{
	answer("MaxBurstLength", "1", "Reject");
	assert_int_equal(params.max_burst, 262144);
}

static void test_a_malformed_declaration_is_an_error(void **state)
{
	unsigned id = id_of("MaxRecvDataSegmentLength");
	assert_int_equal(iscsi_key_answer(id, "511", &offer, &params, &out, &e), -EPROTO);
	assert_int_equal(iscsi_key_answer(id, "Reject", &offer, &params, &out, &e), -EPROTO);
	assert_non_null(strstr(e.text, "MaxRecvDataSegmentLength"));
}

static void test_first_burst_stays_under_max_burst(void **state)
{
	static const char text[] = "FirstBurstLength=262144\0MaxBurstLength=8192";
	struct iscsi_key_set set;
	assert_int_equal(iscsi_keys_collect(text, sizeof text, &set, NULL, &e), 0);
	assert_int_equal(set.order[0], ISCSI_KEY_MAX_BURST_LENGTH);
	answer("MaxBurstLength", "8192", "8192");
	answer("FirstBurstLength", "262144", "8192");
	params.first_burst = 65536;
	assert_int_equal(iscsi_params_settle(&params, &offer, ISCSI_BY_TARGET, &e), 0);
	assert_int_equal(params.first_burst, 8192);
}

static void test_digest_demanded_and_not_agreed_is_refused(void **state)
{
	assert_int_equal(iscsi_offer_set(&offer, "DataDigest", "CRC32C", &e), 0);
	assert_int_equal(iscsi_params_settle(&params, &offer, ISCSI_BY_TARGET, &e), -EPROTO);
	assert_non_null(strstr(e.text, "DataDigest"));
	answer("DataDigest", "CRC32C", "CRC32C");
	assert_int_equal(iscsi_params_settle(&params, &offer, ISCSI_BY_TARGET, &e), 0);
}

static void test_own_send_limit_is_kept(void **state)
{
	assert_int_equal(iscsi_offer_set(&offer, "MaxXmitDataSegmentLength", "65536", &e), 0);
	answer("MaxRecvDataSegmentLength", "16777215", NULL);
	assert_int_equal(iscsi_params_settle(&params, &offer, ISCSI_BY_TARGET, &e), 0);
	assert_int_equal(params.max_send_data, 65536);
	assert_int_equal(iscsi_key_find("MaxXmitDataSegmentLength", 24), -1);
}

static void test_over_rdma_its_keys_are_agreed_on(void **state)
{
	offer.is_rdma = true;
	answer("RDMAExtensions", "Yes", "Yes");
	answer("TargetRecvDataSegmentLength", "65536", "8192");
	answer("InitiatorRecvDataSegmentLength", "4096", "4096");
	answer("HeaderDigest", "CRC32C,None", "None");
	answer("MaxOutstandingUnexpectedPDUs", "16", NULL);
	assert_int_equal(iscsi_params_settle(&params, &offer, ISCSI_BY_TARGET, &e), 0);
	assert_int_equal(params.max_recv_data, 8192);
	assert_int_equal(params.max_send_data, 128);
	assert_int_equal(params.max_unexpected_pdus, 16);
	assert_int_equal(iscsi_params_settle(&params, &offer, ISCSI_BY_INITIATOR, &e), 0);
	assert_int_equal(params.max_recv_data, 4096);
}

static void test_over_rdma_discovery_may_answer_in_full(void **state)
{
	offer.is_rdma = true;
	params.is_discovery = true;
	answer("InitiatorRecvDataSegmentLength", "262144", "8192");
	assert_int_equal(iscsi_params_settle(&params, &offer, ISCSI_BY_TARGET, &e), 0);
	assert_int_equal(params.max_send_data, 8192);
}

static void test_over_rdma_memory_is_for_solicited_data_unless_denied(void **state)
{
	offer.is_rdma = true;
	assert_true(params.tagged_solicited_only);
	answer("TaggedBufferForSolicitedDataOnly", "No", NULL);
	assert_false(params.tagged_solicited_only);
}

static void test_over_rdma_a_peer_without_extensions_is_refused(void **state)
{
	offer.is_rdma = true;
	assert_int_equal(iscsi_params_settle(&params, &offer, ISCSI_BY_TARGET, &e), -EPROTO);
}

static bool is_proposed(const char *key, bool is_discovery, bool is_leading)
{
	return iscsi_key_is_proposed(id_of(key), &offer, is_discovery, is_leading);
}

static void test_what_an_initiator_says(void **state)
{
	assert_true(is_proposed("MaxBurstLength", false, true));
	assert_false(is_proposed("MaxBurstLength", true, true));
	assert_false(is_proposed("MaxBurstLength", false, false));
	assert_true(is_proposed("HeaderDigest", false, false));
	assert_true(is_proposed("MaxRecvDataSegmentLength", true, true));
	assert_false(is_proposed("RDMAExtensions", false, true));
	assert_false(is_proposed("TaskReporting", false, true));
	assert_false(is_proposed("iSCSIProtocolLevel", false, true));
	assert_false(is_proposed("IFMarker", false, true));
	assert_false(is_proposed("AuthMethod", false, true));
	assert_false(is_proposed("TargetAlias", false, true));
	assert_int_equal(iscsi_offer_set(&offer, "iSCSIProtocolLevel", "2", &e), 0);
	assert_true(is_proposed("iSCSIProtocolLevel", false, true));
	offer.is_rdma = true;
	assert_true(is_proposed("RDMAExtensions", false, true));
	assert_false(is_proposed("HeaderDigest", false, true));
	assert_false(is_proposed("MaxRecvDataSegmentLength", false, true));
}

static int take(const char *key, const char *ours, const char *value)
{
	setup(NULL);
	if (ours)
		assert_int_equal(iscsi_offer_set(&offer, key, ours, &e), 0);
	return iscsi_key_accept(id_of(key), value, &offer, &params, &e);
}

static void test_answers_an_offer_allows(void **state)
{
	assert_int_equal(take("MaxBurstLength", "65536", "512"), 0);
	assert_int_equal(params.max_burst, 512);
	assert_int_equal(take("DefaultTime2Wait", "2", "30"), 0);
	assert_int_equal(params.time2wait, 30);
	assert_int_equal(take("InitialR2T", "No", "Yes"), 0);
	assert_true(params.initial_r2t);
	assert_int_equal(take("HeaderDigest", "CRC32C,None", "CRC32C"), 0);
	assert_true(params.header_digest);
	assert_int_equal(take("MaxBurstLength", "65536", "Irrelevant"), 0);
	assert_int_equal(params.max_burst, 65536);
	assert_int_equal(take("FirstBurstLength", "262144", NULL), 0);
	assert_int_equal(params.first_burst, 65536);
	assert_int_equal(take("ImmediateData", "No", NULL), 0);
	assert_false(params.immediate_data);
}

static void test_answers_no_offer_allows(void **state)
{
	assert_int_equal(take("MaxBurstLength", "65536", "65537"), -EPROTO);
	assert_int_equal(take("MaxBurstLength", "65536", "0"), -EPROTO);
	assert_int_equal(take("DefaultTime2Wait", "2", "1"), -EPROTO);
	assert_int_equal(take("InitialR2T", "Yes", "No"), -EPROTO);
	assert_int_equal(take("ImmediateData", "No", "Yes"), -EPROTO);
	assert_int_equal(take("HeaderDigest", "None", "CRC32C"), -EPROTO);
	assert_int_equal(take("HeaderDigest", "CRC32C,None", "CRC32C,None"), -EPROTO);
	assert_int_equal(take("MaxOutstandingR2T", "4", "many"), -EPROTO);
}

static void test_proposals_are_spelled_as_they_are_set(void **state)
{
	assert_int_equal(iscsi_key_propose(ISCSI_KEY_HEADER_DIGEST, &offer, &out), 0);
	assert_int_equal(iscsi_key_propose(ISCSI_KEY_INITIAL_R2T, &offer, &out), 0);
	assert_int_equal(iscsi_key_propose(ISCSI_KEY_MAX_BURST_LENGTH, &offer, &out), 0);
	static const char expected[] =
		"HeaderDigest=None,CRC32C\0InitialR2T=No\0MaxBurstLength=1048576";
	assert_int_equal(out.len, sizeof expected);
	assert_memory_equal(buf, expected, sizeof expected);
}

static void test_offer_set_refuses_with_the_range(void **state)
{
	static const struct {
		const char *key, *value;
		int rc;
		const char *hint;
	} rows[] = {
		{"MaxBurstLength",	    "511",	   -ERANGE, "512 to 16777215"},
		{ "MaxBurstLength",	    "big",	   -EINVAL, "512 to 16777215"},
		{ "ErrorRecoveryLevel", "1",	     -ERANGE, "only 0"	       },
		{ "DataPDUInOrder",	    "No",	  -ERANGE, "only Yes"	      },
		{ "InitialR2T",		"perhaps",   -EINVAL, "Yes or No"	},
		{ "HeaderDigest",	  "CRC64",	   -EINVAL, "None,CRC32C"	  },
		{ "HeaderDigest",	  "None,None", -EINVAL, "None,CRC32C"    },
		{ "HeaderDigest",	  "",	      -EINVAL, "None,CRC32C"    },
		{ "AuthMethod",		"CHAP",	-ENOENT, "no such"	   },
		{ "Nonsense",	      "1",	   -ENOENT, "no such"	      },
		{ "IFMarker",	      "Yes",	     -EINVAL, "obsolete"	 },
		{ "iSCSIProtocolLevel", "3",	     -ERANGE, "0 to 2"	       },
	};
	struct iscsi_offer before = offer;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(iscsi_offer_set(&offer, rows[i].key, rows[i].value, &e),
				 rows[i].rc);
		assert_non_null(strstr(e.text, rows[i].hint));
	}
	assert_memory_equal(&before, &offer, sizeof offer);
	assert_int_equal(iscsi_offer_set(&offer, "IFMarkInt", "Reject", &e), 0);
}

static void test_every_offer_row_accepts_its_own_default(void **state)
{
	unsigned at = 0, count = 0;
	struct iscsi_offer_row row;
	char text[64];
	while (iscsi_offer_next(&at, &row)) {
		count++;
		assert_non_null(row.help);
		assert_true(row.range[0]);
		assert_int_equal(iscsi_offer_set(&offer, row.name, row.def, &e), 0);
		assert_int_equal(iscsi_offer_get(&offer, row.name, text, sizeof text), 0);
		assert_string_equal(text, row.def);
	}
	assert_int_equal(count, 17);
	assert_int_equal(iscsi_offer_get(&offer, "AuthMethod", text, sizeof text), -ENOENT);
	assert_int_equal(iscsi_offer_get(&offer, "HeaderDigest", text, 8), -ENOSPC);
}

static int collect(const char *text, size_t len, struct iscsi_key_set *set)
{
	setup(NULL);
	return iscsi_keys_collect(text, len, set, &out, &e);
}
#define COLLECT(s, set) collect((s), sizeof(s), (set))

static void test_unknown_keys_are_not_understood(void **state)
{
	struct iscsi_key_set set;
	assert_int_equal(COLLECT("X-com.x.y=1\0HeaderDigest=None\0Foo=NotUnderstood\0Bar=", &set),
			 0);
	assert_int_equal(set.count, 1);
	static const char expected[] = "X-com.x.y=NotUnderstood\0Bar=NotUnderstood";
	assert_int_equal(out.len, sizeof expected);
	assert_memory_equal(buf, expected, sizeof expected);
}

static void test_a_key_said_twice_is_an_error(void **state)
{
	struct iscsi_key_set set;
	assert_int_equal(COLLECT("HeaderDigest=None\0HeaderDigest=None", &set), -EPROTO);
	assert_non_null(strstr(e.text, "HeaderDigest"));
	assert_int_equal(COLLECT("X-a=1\0X-b=1\0X-a=1", &set), -EPROTO);
}

static void test_values_too_long_are_errors(void **state)
{
	static char text[400] = "InitiatorName=";
	struct iscsi_key_set set;
	memset(text + 14, 'a', 224);
	assert_int_equal(collect(text, 14 + 225, &set), -EPROTO);
	text[14 + 223] = 0;
	assert_int_equal(collect(text, 14 + 224, &set), 0);
	static char alias[400] = "TargetAlias=";
	memset(alias + 12, 'a', 256);
	assert_int_equal(collect(alias, 12 + 257, &set), -EPROTO);
}

static void test_too_many_keys_are_an_error(void **state)
{
	static char text[8192];
	size_t at = 0;
	struct iscsi_key_set set;
	for (int i = 0; i < ISCSI_TEXT_KEYS_MAX; i++)
		at += (size_t)sprintf(text + at, "X%d=1", i) + 1;
	assert_int_equal(collect(text, at, &set), 0);
	at += (size_t)sprintf(text + at, "Xmore=1") + 1;
	assert_int_equal(collect(text, at, &set), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_every_key_answers_by_its_rule, setup),
		cmocka_unit_test_setup(test_results_reach_the_params, setup),
		cmocka_unit_test_setup(test_the_standard_rules_where_nothing_is_said, setup),
		cmocka_unit_test_setup(test_a_rejected_value_leaves_the_standard, setup),
		cmocka_unit_test_setup(test_a_malformed_declaration_is_an_error, setup),
		cmocka_unit_test_setup(test_first_burst_stays_under_max_burst, setup),
		cmocka_unit_test_setup(test_digest_demanded_and_not_agreed_is_refused, setup),
		cmocka_unit_test_setup(test_own_send_limit_is_kept, setup),
		cmocka_unit_test_setup(test_over_rdma_its_keys_are_agreed_on, setup),
		cmocka_unit_test_setup(test_over_rdma_discovery_may_answer_in_full, setup),
		cmocka_unit_test_setup(test_over_rdma_memory_is_for_solicited_data_unless_denied,
				       setup),
		cmocka_unit_test_setup(test_over_rdma_a_peer_without_extensions_is_refused, setup),
		cmocka_unit_test_setup(test_what_an_initiator_says, setup),
		cmocka_unit_test_setup(test_answers_an_offer_allows, setup),
		cmocka_unit_test_setup(test_answers_no_offer_allows, setup),
		cmocka_unit_test_setup(test_proposals_are_spelled_as_they_are_set, setup),
		cmocka_unit_test_setup(test_offer_set_refuses_with_the_range, setup),
		cmocka_unit_test_setup(test_every_offer_row_accepts_its_own_default, setup),
		cmocka_unit_test_setup(test_unknown_keys_are_not_understood, setup),
		cmocka_unit_test_setup(test_a_key_said_twice_is_an_error, setup),
		cmocka_unit_test_setup(test_values_too_long_are_errors, setup),
		cmocka_unit_test_setup(test_too_many_keys_are_an_error, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
