// SPDX-License-Identifier: BSD-2-Clause
// TCP addresses: text, comparison, resolution.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "transport/tcp/addr.h"

static struct tcp_addr parsed(const char *text)
{
	struct tcp_addr a;
	struct err e;

	if (tcp_addr_parse(&a, text, 3260, &e) < 0)
		fail_msg("%s", e.text);
	return a;
}

static void every_form_parses_and_formats(void **state)
{
	static const struct {
		const char *text, *formatted, *ip;
	} cases[] = {
		{"1.2.3.4",		     "1.2.3.4:3260",	     "1.2.3.4"	       },
		{ "1.2.3.4:1",	       "1.2.3.4:1",		    "1.2.3.4"	      },
		{ "255.255.255.255:65535",  "255.255.255.255:65535", "255.255.255.255"},
		{ "::1",			 "[::1]:3260",	       "::1"	     },
		{ "[::1]",		   "[::1]:3260",		 "::1"	       },
		{ "[::1]:860",	       "[::1]:860",		    "::1"		  },
		{ "[2001:DB8:0:0::0001]:5", "[2001:db8::1]:5",       "2001:db8::1"    },
		{ "fe80::1%lo",		"[fe80::1%lo]:3260",     "fe80::1%lo"	  },
		{ "[fe80::1%1]:7",	   "[fe80::1%lo]:7",	     "fe80::1%lo"	  },
		{ "[fe80::1%4000000]:7",	 "[fe80::1%4000000]:7",	"fe80::1%4000000"},
		{ "::ffff:1.2.3.4",	    "[::ffff:1.2.3.4]:3260", "::ffff:1.2.3.4" },
	};
	char out[TCP_ADDR_TEXT];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tcp_addr a = parsed(cases[i].text);
		assert_string_equal(tcp_addr_format(&a, out), cases[i].formatted);
		assert_string_equal(tcp_addr_format_ip(&a, out), cases[i].ip);
		struct tcp_addr again = parsed(cases[i].formatted);
		assert_int_equal(tcp_addr_compare(&a, &again), 0);
	}
}

static void wrong_text_is_refused_with_its_cause(void **state)
{
	static const struct {
		const char *text, *cause;
	} cases[] = {
		{"",			      "host is missing"},
		{ ":3260",			   "host is missing"},
		{ "[]:1",			  "host is missing"},
		{ "[::1",			  "] is missing"	 },
		{ "[::1]3260",		       "only :port"	    },
		{ "1.2.3.4:",		      "port"	     },
		{ "1.2.3.4:0",		       "port"	      },
		{ "1.2.3.4:65536",		   "port"		  },
		{ "1.2.3.4:99999999999999999999", "port"		 },
		{ "1.2.3.4:+1",			"port"	       },
		{ "1.2.3.4: 1",			"port"	       },
		{ "1.2.3.4:1x",			"port"	       },
		{ "[::1]:",			    "port"	   },
		{ "1.2.3",			   "not an IPv4"	 },
		{ "1.2.3.256",		       "not an IPv4"    },
		{ "[1.2.3.4]:1",			 "not an IPv4"    },
		{ "localhost",		       "not an IPv4"    },
		{ "1::2::3",			     "not an IPv4"	   },
		{ "fe80::1%",		      "not an IPv4"    },
		{ "1.2.3.4%lo",			"not an IPv4"    },
	};
	struct tcp_addr a;
	struct err e;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tcp_addr_parse(&a, cases[i].text, 1, &e), -EINVAL);
		if (!strstr(e.text, cases[i].cause))
			fail_msg("%s: %s", cases[i].text, e.text);
	}
}

static void a_host_of_any_length_is_refused(void **state)
{
	struct tcp_addr a;
	char text[2000];

	for (size_t n = 240; n < 270; n++) {
		memset(text, '1', n);
		text[n] = 0;
		assert_int_equal(tcp_addr_parse(&a, text, 1, NULL), -EINVAL);
	}
	memset(text, ':', sizeof text - 1);
	text[sizeof text - 1] = 0;
	assert_int_equal(tcp_addr_parse(&a, text, 1, NULL), -EINVAL);
}

static void an_interface_that_is_not_there_is_told_from_bad_text(void **state)
{
	struct tcp_addr a;
	struct err e;

	assert_int_equal(tcp_addr_parse(&a, "fe80::1%nosuchif0", 1, &e), -ENODEV);
	assert_non_null(strstr(e.text, "no such interface"));
}

static void kinds_of_addresses_are_known(void **state)
{
	static const struct {
		const char *text;
		bool wildcard, loopback, link_local;
	} cases[] = {
		{"0.0.0.0",	     true,  false, false},
		       { "::",	       true,  false, false},
		{ "127.9.9.9",   false, true,  false},
		       { "::1",		false, true,  false},
		{ "169.254.1.1", false, false, true },
		       { "fe80::1",	    false, false, true },
		{ "10.0.0.1",    false, false, false},
		       { "2001:db8::1", false, false, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tcp_addr a = parsed(cases[i].text);
		assert_int_equal(tcp_addr_is_wildcard(&a), cases[i].wildcard);
		assert_int_equal(tcp_addr_is_loopback(&a), cases[i].loopback);
		assert_int_equal(tcp_addr_is_link_local(&a), cases[i].link_local);
	}
}

static void addresses_nobody_can_listen_on_are_refused(void **state)
{
	static const struct {
		const char *text, *why; // why NULL: fine
	} cases[] = {
		{"0.0.0.0",	     NULL		  },
		{ "::",		NULL		     },
		{ "10.0.0.1",	      NULL		   },
		{ "fe80::1%1",	       NULL		    },
		{ "224.0.0.1",	       "multicast"	   },
		{ "239.255.255.255",  "multicast"		 },
		{ "ff02::1",	     "multicast"		 },
		{ "255.255.255.255",  "broadcast"		 },
		{ "::ffff:127.0.0.1", "as 1.2.3.4"	   },
		{ "fe80::1",	     "without an interface"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tcp_addr a = parsed(cases[i].text);
		struct err e = { 0 };
		int r = tcp_addr_check_local(&a, &e);
		assert_int_equal(r, cases[i].why ? -EINVAL : 0);
		if (cases[i].why)
			assert_non_null(strstr(e.text, cases[i].why));
	}
}

static void addresses_have_a_total_order(void **state)
{
	static const char *const rising[] = {
		"1.2.3.4:1", "1.2.3.4:2", "1.2.3.5:1",	 "200.0.0.1:1",
		"[::1]:1",   "[::1]:2",	  "[fe80::1]:1", "[fe80::1%1]:1",
	};
	enum { N = sizeof rising / sizeof *rising };

	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++) {
			struct tcp_addr a = parsed(rising[i]), b = parsed(rising[j]);
			int r = tcp_addr_compare(&a, &b);
			assert_int_equal((r > 0) - (r < 0), (i > j) - (i < j));
		}
	}
}

static void the_same_ip_may_have_another_port(void **state)
{
	struct tcp_addr a = parsed("[::1]:1"), b = parsed("[::1]:2"), c = parsed("1.2.3.4");

	assert_true(tcp_addr_same_ip(&a, &b));
	assert_false(tcp_addr_same_ip(&a, &c));
}

static void a_mapped_ipv4_peer_becomes_ipv4(void **state)
{
	struct tcp_addr mapped = parsed("[::ffff:1.2.3.4]:7"), a;
	char out[TCP_ADDR_TEXT];

	tcp_addr_from_sockaddr(&a, &mapped.sa, sizeof mapped.in6);
	assert_string_equal(tcp_addr_format(&a, out), "1.2.3.4:7");
}

static void a_short_or_foreign_sockaddr_is_no_address(void **state)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	struct sockaddr un = { .sa_family = AF_UNIX };
	struct tcp_addr a;
	char out[TCP_ADDR_TEXT];

	tcp_addr_from_sockaddr(&a, (struct sockaddr *)&in6, sizeof(struct sockaddr_in));
	assert_int_equal(a.sa.sa_family, AF_UNSPEC);
	tcp_addr_from_sockaddr(&a, &un, sizeof un);
	assert_int_equal(a.sa.sa_family, AF_UNSPEC);
	tcp_addr_from_sockaddr(&a, &un, 0);
	assert_string_equal(tcp_addr_format(&a, out), "none");
	assert_int_equal(tcp_addr_port(&a), 0);
}

static void numbers_resolve_without_a_resolver(void **state)
{
	struct tcp_addr a[2];

	assert_int_equal(tcp_addr_resolve(a, 2, "[::1]:9", 1, NULL), 1);
	assert_int_equal(tcp_addr_port(&a[0]), 9);
	assert_int_equal(tcp_addr_resolve(a, 2, "1.2.3.4", 5, NULL), 1);
	assert_int_equal(tcp_addr_port(&a[0]), 5);
}

static void localhost_resolves_to_loopback(void **state)
{
	struct tcp_addr a[8];
	struct err e;
	int n = tcp_addr_resolve(a, 8, "localhost:77", 1, &e);

	assert_true(n >= 1);
	for (int i = 0; i < n; i++) {
		assert_true(tcp_addr_is_loopback(&a[i]));
		assert_int_equal(tcp_addr_port(&a[i]), 77);
	}
}

static void half_an_address_is_not_resolved_as_a_name(void **state)
{
	struct tcp_addr a;
	struct err e;

	// getaddrinfo() would make 127.0.0.1 of the first and 8.0.0.1 of the second.
	assert_int_equal(tcp_addr_resolve(&a, 1, "127.1", 1, &e), -EINVAL);
	assert_int_equal(tcp_addr_resolve(&a, 1, "010.0.0.1", 1, &e), -EINVAL);
	assert_int_equal(tcp_addr_resolve(&a, 1, "[::g]", 1, &e), -EINVAL);
	assert_int_equal(tcp_addr_resolve(&a, 0, "::1", 1, &e), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_parses_and_formats),
		cmocka_unit_test(wrong_text_is_refused_with_its_cause),
		cmocka_unit_test(a_host_of_any_length_is_refused),
		cmocka_unit_test(an_interface_that_is_not_there_is_told_from_bad_text),
		cmocka_unit_test(kinds_of_addresses_are_known),
		cmocka_unit_test(addresses_nobody_can_listen_on_are_refused),
		cmocka_unit_test(addresses_have_a_total_order),
		cmocka_unit_test(the_same_ip_may_have_another_port),
		cmocka_unit_test(a_mapped_ipv4_peer_becomes_ipv4),
		cmocka_unit_test(a_short_or_foreign_sockaddr_is_no_address),
		cmocka_unit_test(numbers_resolve_without_a_resolver),
		cmocka_unit_test(localhost_resolves_to_loopback),
		cmocka_unit_test(half_an_address_is_not_resolved_as_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
