// SPDX-License-Identifier: BSD-2-Clause
// Requests by netlink and their answers, which the test writes; and the list of interfaces of the
// kernel itself.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <limits.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <cmocka.h>

#include "initiator/netlink/netlink.h"

// ---- a kernel ----

ssize_t __real_mnl_socket_sendto(const struct mnl_socket *s, const void *m, size_t len);
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *s, const void *m, size_t len);
ssize_t __real_mnl_socket_recvfrom(const struct mnl_socket *s, void *to, size_t size);
ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *s, void *to, size_t size);

struct answer {
	int error; // or
	size_t len;
	uint8_t bytes[256];
};

static struct {
	struct answer answers[4]; // without a socket
	unsigned count, taken;
	struct nlmsghdr sent;
	unsigned sends;
	int send_error;
} kernel;

// netlink_do() counts from 0.
static const uint32_t OWN = 1;

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *s, const void *m, size_t len)
{
	if (s)
		return __real_mnl_socket_sendto(s, m, len);
	memcpy(&kernel.sent, m, sizeof kernel.sent);
	assert_int_equal(kernel.sent.nlmsg_len, len);
	kernel.sends++;
	errno = kernel.send_error;
	return errno ? -1 : (ssize_t)len;
}

ssize_t __wrap_mnl_socket_recvfrom(const struct mnl_socket *s, void *to, size_t size)
{
	if (s)
		return __real_mnl_socket_recvfrom(s, to, size);
	assert_true(kernel.taken < kernel.count);
	struct answer *a = &kernel.answers[kernel.taken++];
	memset(to, 0xff, size);
	memcpy(to, a->bytes, a->len);
	errno = a->error;
	return errno ? -1 : (ssize_t)a->len;
}

static int set_up(void **state)
{
	memset(&kernel, 0, sizeof kernel);
	return 0;
}

static struct answer *answer(void)
{
	return &kernel.answers[kernel.count++];
}

static void refuse(int error)
{
	answer()->error = error;
}

static void add(struct answer *a, uint32_t sequence, uint16_t type, const void *data, size_t len)
{
	struct nlmsghdr h = { .nlmsg_len = (uint32_t)(sizeof h + len),
			      .nlmsg_type = type,
			      .nlmsg_flags = NLM_F_DUMP_INTR,
			      .nlmsg_seq = sequence };

	memcpy(a->bytes + a->len, &h, sizeof h);
	memcpy(a->bytes + a->len + sizeof h, data, len);
	a->len += MNL_ALIGN(sizeof h + len);
}

static void verdict(struct answer *a, uint32_t sequence, int code)
{
	struct nlmsgerr e = { .error = code };

	add(a, sequence, NLMSG_ERROR, &e, sizeof e);
}

// ---- a request ----

static char seen[8];

static int found(const struct nlmsghdr *m, void *arg)
{
	assert_ptr_equal(arg, seen);
	strncat(seen, mnl_nlmsg_get_payload(m), 1);
	return MNL_CB_OK;
}

static int request(uint16_t flags)
{
	struct netlink n = { 0 };
	struct netlink_message m;
	uint32_t fixed = 0;

	*seen = 0;
	netlink_begin(&m, RTM_GETLINK, flags, &fixed, sizeof fixed);
	return netlink_do(&n, &m, found, seen);
}

// ---- verdicts ----

static void the_result_is_the_verdict_of_the_kernel(void **state)
{
	verdict(answer(), OWN, -EEXIST);
	assert_int_equal(request(0), -EEXIST);

	set_up(NULL);
	verdict(answer(), OWN, 0);
	assert_int_equal(request(0), 0);
}

// One bit of NLM_F_DUMP is NLM_F_EXCL.
static void all_requests_but_those_for_a_list_are_acknowledged(void **state)
{
	verdict(answer(), OWN, 0);
	assert_int_equal(request(NLM_F_CREATE | NLM_F_EXCL), 0);
	assert_int_equal(kernel.sent.nlmsg_flags,
			 NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);

	set_up(NULL);
	verdict(answer(), OWN, 0);
	assert_int_equal(request(NLM_F_DUMP), 0);
	assert_int_equal(kernel.sent.nlmsg_flags, NLM_F_REQUEST | NLM_F_DUMP);
}

static void a_list_ends_with_its_last_message_also_if_it_has_changed_meanwhile(void **state)
{
	struct answer *a = answer();
	int code = 0;

	add(a, OWN, RTM_NEWLINK, "a", 1);
	add(a, OWN, RTM_NEWLINK, "b", 1);
	a = answer();
	add(a, OWN, RTM_NEWLINK, "c", 1);
	add(a, OWN, NLMSG_DONE, &code, sizeof code);
	add(a, OWN, RTM_NEWLINK, "d", 1);

	assert_int_equal(request(NLM_F_DUMP), 0);
	assert_string_equal(seen, "abc");
}

static void answers_of_earlier_requests_and_notices_are_skipped(void **state)
{
	struct answer *a = answer();

	verdict(a, OWN - 1, -EPERM);
	add(a, OWN + 1, RTM_NEWLINK, "a", 1);
	add(a, 0, RTM_NEWLINK, "b", 1);
	add(a, OWN, RTM_NEWLINK, "c", 1);
	verdict(answer(), OWN + 1, -EPERM);
	verdict(answer(), OWN, -ENODEV);

	assert_int_equal(request(0), -ENODEV);
	assert_string_equal(seen, "c");
}

static void each_request_has_its_sequence_number(void **state)
{
	struct netlink n = { .sequence = 7 };
	struct netlink_message m;

	verdict(answer(), 8, 0);
	verdict(answer(), 8, -EPERM);
	verdict(answer(), 9, 0);
	netlink_begin(&m, RTM_GETLINK, 0, NULL, 0);
	assert_int_equal(netlink_do(&n, &m, NULL, NULL), 0);
	assert_int_equal(netlink_do(&n, &m, NULL, NULL), 0);
	assert_int_equal(kernel.taken, 3);
}

static void only_an_answer_that_does_not_come_in_time_ends_the_wait(void **state)
{
	refuse(EINTR);
	refuse(ENOBUFS);
	verdict(answer(), OWN, 0);
	assert_int_equal(request(0), 0);

	set_up(NULL);
	refuse(EAGAIN);
	assert_int_equal(request(0), -EAGAIN);
}

static void a_request_that_cannot_be_sent_has_no_answer(void **state)
{
	kernel.send_error = EPERM;
	assert_int_equal(request(0), -EPERM);
	assert_int_equal(kernel.taken, 0);
}

// ---- malformed answers ----

static void a_message_with_a_wrong_length_is_refused_after_those_before_it(void **state)
{
	static const uint32_t lengths[] = { 0, 15, 21, 0x80000010, UINT32_MAX };

	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		set_up(NULL);
		struct answer *a = answer();
		add(a, OWN, RTM_NEWLINK, "a", 1);
		size_t second = a->len;
		add(a, OWN, RTM_NEWLINK, "bbbb", 4);
		memcpy(a->bytes + second, &lengths[i], sizeof lengths[i]);
		assert_int_equal(second + 20, a->len);

		assert_int_equal(request(NLM_F_DUMP), -EBADMSG);
		assert_string_equal(seen, "a");
	}
}

static void an_answer_without_a_whole_header_is_refused(void **state)
{
	for (size_t len = 0; len < sizeof(struct nlmsghdr); len++) {
		set_up(NULL);
		struct answer *a = answer();
		verdict(a, OWN, 0);
		a->len = len;
		assert_int_equal(request(0), -EBADMSG);
	}
}

static void an_answer_that_is_longer_than_its_buffer_is_refused(void **state)
{
	refuse(ENOSPC);
	assert_int_equal(request(0), -EBADMSG);
}

static void a_verdict_without_a_whole_code_is_refused(void **state)
{
	add(answer(), OWN, NLMSG_ERROR, "\0\0", 2);
	assert_int_equal(request(0), -EBADMSG);

	set_up(NULL);
	verdict(answer(), OWN, INT_MIN);
	assert_int_equal(request(0), -EBADMSG);
}

// ---- attributes ----

struct sample {
	_Alignas(4) uint8_t bytes[64];
};

static const struct nlmsghdr *sample(struct sample *s, const uint8_t *behind, size_t len)
{
	struct nlmsghdr h = { .nlmsg_len = (uint32_t)(sizeof h + len) };

	memset(s, 0xff, sizeof *s);
	memcpy(s->bytes, &h, sizeof h);
	memcpy(s->bytes + sizeof h, behind, len);
	return (const struct nlmsghdr *)s->bytes;
}

static void an_attribute_is_found_behind_the_fixed_part_and_inside_another(void **state)
{
	static const uint8_t bytes[] = {
		5,  0, 2, 0,				    // fixed
		5,  0, 1, 0,	9, 0, 0, 0,		    // padded
		12, 0, 2, 0x80, 8, 0, 3, 0, 'i', 'n', 0, 0, // nested
		8,  0, 2, 0,	7, 0, 0, 0,		    // of the same type
	};
	struct sample s;
	const struct nlmsghdr *m = sample(&s, bytes, sizeof bytes);

	const struct nlattr *nest = netlink_attribute(m, 4, 2);
	assert_ptr_equal(nest, s.bytes + 16 + 12);
	assert_string_equal(mnl_attr_get_payload(netlink_nested(nest, 3)), "in");
	assert_null(netlink_nested(nest, 2));
	assert_null(netlink_nested(NULL, 3));
	assert_null(netlink_attribute(m, 4, 3));
	assert_null(netlink_attribute(m, sizeof bytes, 2));
	assert_null(netlink_attribute(m, sizeof bytes + 4, 2));
	assert_null(netlink_attribute(m, 1000, 2));
}

static void an_attribute_with_a_wrong_length_ends_the_search(void **state)
{
	static const uint8_t lengths[] = { 0, 3, 13 };

	for (size_t i = 0; i < sizeof lengths; i++) {
		uint8_t bytes[] = { lengths[i], 0, 1, 0, 4, 0, 2, 0, 4, 0, 2, 0 };
		struct sample s;
		const struct nlmsghdr *m = sample(&s, bytes, sizeof bytes);
		assert_null(netlink_attribute(m, 0, 1));
		assert_null(netlink_attribute(m, 0, 2));
	}
}

static void an_attribute_that_ends_with_the_message_has_no_padding(void **state)
{
	static const uint8_t bytes[] = { 5, 0, 1, 0, 9 };
	uint8_t value = 0;
	struct sample s;
	const struct nlmsghdr *m = sample(&s, bytes, sizeof bytes);

	assert_null(netlink_attribute(m, 0, 2));
	assert_true(netlink_value(netlink_attribute(m, 0, 1), &value, sizeof value));
	assert_int_equal(value, 9);
}

static void a_value_of_another_length_is_not_taken(void **state)
{
	static const uint8_t bytes[] = { 6, 0, 1, 0, 9, 9, 0, 0 };
	uint32_t wide = 5;
	uint8_t narrow = 5;
	struct sample s;
	const struct nlattr *a = netlink_attribute(sample(&s, bytes, sizeof bytes), 0, 1);

	assert_false(netlink_value(a, &wide, sizeof wide));
	assert_false(netlink_value(a, &narrow, sizeof narrow));
	assert_false(netlink_value(NULL, &wide, sizeof wide));
	assert_int_equal(wide, 5);
	assert_int_equal(narrow, 5);
}

// ---- long messages ----

enum { ROOM = NETLINK_BYTES_MAX - 16 - 4 }; // beside the headers

static int send_of(struct netlink_message *m)
{
	struct netlink n = { 0 };

	verdict(answer(), OWN, 0);
	return netlink_do(&n, m, NULL, NULL);
}

static void a_message_may_fill_its_room_and_no_more(void **state)
{
	static const uint8_t zeroes[4096];
	struct netlink_message m;

	netlink_begin(&m, RTM_NEWLINK, 0, NULL, 0);
	netlink_put(&m, 1, zeroes, ROOM);
	assert_int_equal(send_of(&m), 0);
	assert_int_equal(kernel.sent.nlmsg_len, NETLINK_BYTES_MAX);

	static const size_t lengths[] = { ROOM + 1, sizeof zeroes, SIZE_MAX };
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		set_up(NULL);
		netlink_begin(&m, RTM_NEWLINK, 0, NULL, 0);
		netlink_put(&m, 1, zeroes, lengths[i]);
		netlink_put_u32(&m, 2, 3); // fits
		assert_int_equal(send_of(&m), -EMSGSIZE);
		assert_int_equal(kernel.sends, 0);
	}
}

static void all_that_does_not_fit_makes_a_message_too_long(void **state)
{
	static const uint8_t zeroes[NETLINK_BYTES_MAX];
	struct netlink_message m;

	for (unsigned i = 0; i < 4; i++) {
		set_up(NULL);
		netlink_begin(&m, RTM_NEWLINK, 0, NULL, 0);
		netlink_put(&m, 1, zeroes, ROOM);
		if (i == 0)
			netlink_put_u32(&m, 2, 3);
		else if (i == 1)
			netlink_put_u64(&m, 2, 3);
		else if (i == 2)
			netlink_put_text(&m, 2, "");
		else
			netlink_nest_end(&m, netlink_nest(&m, 2));
		assert_int_equal(send_of(&m), -EMSGSIZE);
		assert_int_equal(kernel.sends, 0);
	}
	netlink_begin(&m, RTM_NEWLINK, 0, zeroes, sizeof zeroes);
	assert_int_equal(send_of(&m), -EMSGSIZE);
}

// ---- the kernel itself ----

static int is_loopback(const struct nlmsghdr *m, void *arg)
{
	char name[3];

	*(bool *)arg |= netlink_value(netlink_attribute(m, sizeof(struct ifinfomsg), IFLA_IFNAME),
				      name, sizeof name) &&
			!strcmp(name, "lo");
	return MNL_CB_OK;
}

static void the_kernel_lists_the_loopback_interface(void **state)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct netlink_message m;
	struct netlink n;
	bool has_loopback = false;

	assert_int_equal(netlink_open(&n, NETLINK_ROUTE, RTMGRP_LINK, 30), 0);
	netlink_begin(&m, RTM_GETLINK, NLM_F_DUMP, &info, sizeof info);
	assert_int_equal(netlink_do(&n, &m, is_loopback, &has_loopback), 0);
	assert_true(has_loopback);
	netlink_drain(&n);
	netlink_close(&n);
}

static void a_bus_that_the_kernel_lacks_is_not_opened(void **state)
{
	struct netlink n;

	assert_int_equal(netlink_open(&n, 1000, 0, 30), -EPROTONOSUPPORT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_result_is_the_verdict_of_the_kernel, set_up),
		cmocka_unit_test_setup(all_requests_but_those_for_a_list_are_acknowledged, set_up),
		cmocka_unit_test_setup(
			a_list_ends_with_its_last_message_also_if_it_has_changed_meanwhile, set_up),
		cmocka_unit_test_setup(answers_of_earlier_requests_and_notices_are_skipped, set_up),
		cmocka_unit_test_setup(each_request_has_its_sequence_number, set_up),
		cmocka_unit_test_setup(only_an_answer_that_does_not_come_in_time_ends_the_wait,
				       set_up),
		cmocka_unit_test_setup(a_request_that_cannot_be_sent_has_no_answer, set_up),
		cmocka_unit_test_setup(
			a_message_with_a_wrong_length_is_refused_after_those_before_it, set_up),
		cmocka_unit_test_setup(an_answer_without_a_whole_header_is_refused, set_up),
		cmocka_unit_test_setup(an_answer_that_is_longer_than_its_buffer_is_refused, set_up),
		cmocka_unit_test_setup(a_verdict_without_a_whole_code_is_refused, set_up),
		cmocka_unit_test(an_attribute_is_found_behind_the_fixed_part_and_inside_another),
		cmocka_unit_test(an_attribute_with_a_wrong_length_ends_the_search),
		cmocka_unit_test(an_attribute_that_ends_with_the_message_has_no_padding),
		cmocka_unit_test(a_value_of_another_length_is_not_taken),
		cmocka_unit_test_setup(a_message_may_fill_its_room_and_no_more, set_up),
		cmocka_unit_test_setup(all_that_does_not_fit_makes_a_message_too_long, set_up),
		cmocka_unit_test(the_kernel_lists_the_loopback_interface),
		cmocka_unit_test(a_bus_that_the_kernel_lacks_is_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
