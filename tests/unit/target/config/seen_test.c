// SPDX-License-Identifier: BSD-2-Clause
// Initiators that were refused: which of them an ACL can admit.
#include "target/config/config_bench.h"

#include "target/fabric/refusals.h"

#define IQN "iqn.2025-01.org.example:disk1"
#define TPG "/iscsi/" IQN "/tpg1"

static void an_initiator_of_invalid_name_is_not_proposed(void **state)
{
	assert_int_equal(set("/", "global", "\"auto_add_default_portal\": \"false\""), 0);
	assert_int_equal(run("/iscsi", "create", "[\"" IQN "\"]"), 0);
	refusal_note("iqn.2025-01.org.example:host", IQN, "192.0.2.1", REFUSED_ACL, 0x0202, "");
	refusal_note("nonsense", IQN, "192.0.2.1", REFUSED_ACL, 0x0202, "");
	refusal_note("nonsense", IQN, "192.0.2.1", REFUSED_ACL, 0x0202, "");
	assert_int_equal(run(TPG "/acls", "create", "[\"--from-seen\"]"), 0);
	assert_string_equal(message(0), "nonsense from 192.0.2.1, refused 2 times (invalid name: "
					"no ACL can admit it)");
	assert_string_equal(message(1), "iqn.2025-01.org.example:host from 192.0.2.1, refused 1 "
					"time (admit it: create "
					"from_seen=iqn.2025-01.org.example:host)");
	assert_int_equal(run(TPG "/acls", "create", "{\"from_seen\": \"nonsense\"}"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_initiator_of_invalid_name_is_not_proposed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
