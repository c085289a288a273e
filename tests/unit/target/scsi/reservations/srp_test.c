// SPDX-License-Identifier: BSD-2-Clause
// Persistent reservations of SRP initiator ports: their TransportIDs (SPC-5 7.6.4.5) in lists, in
// the full status, in saved state and in moves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "target/scsi/alua/alua.h"
#include "target/scsi/reservations/pr_bench.h"
#include "target/scsi/reservations/table.h"
#include "target/scsi/reservations/transport_id.h"

static char dir[64];

static void start(void)
{
	bench_init(&b, &(struct bench_options){
			       .workers = 2, .nexuses = 3, .is_srp = true, .state_dir = dir });
}

static int setup(void **state)
{
	strcpy(dir, "/tmp/pr_srp_XXXXXX");
	bool is_made = mkdtemp(dir);
	start();
	return !is_made;
}

static int teardown(void **state)
{
	char cmd[96];
	bench_done(&b);
	snprintf(cmd, sizeof cmd, "rm -rf %s", dir);
	return system(cmd);
}

static void spec_i_pt_registers_srp_ports(void **state)
{
	uint8_t list[512] = { 0 };
	put_be64(list + 8, 0x55);
	list[20] = SPEC_I_PT;
	uint32_t first = tid_of(1, list + 28), both = first + tid_of(2, list + 28 + first);
	put_be32(list + 24, both);
	assert_int_equal(both, 48);
	assert_int_equal(pr_out_list(0, OUT_REGISTER, 0, list, 28 + both), 0);
	assert_int_equal(pr_keys(0), 3);
	assert_int_equal(pr_out(2, OUT_RESERVE, PR_EA, 0x55, 0, 0), 0);
	assert_int_equal(write_one(1), STATUS_RESERVATION_CONFLICT);
}

static void full_status_has_the_port_identifier(void **state)
{
	uint8_t tid[256];
	pr_register(1);
	assert_int_equal(pr_in(0, 3, 1024), 0);
	assert_int_equal(tid_of(1, tid), 24);
	assert_int_equal(get_be32(c.data + 8 + 20), 24);
	assert_memory_equal(c.data + 8 + 24, tid, 24);
}

static void registrations_of_srp_ports_are_saved(void **state)
{
	uint64_t key;
	assert_int_equal(pr_out(0, OUT_REGISTER, 0, 0, 7, APTPL), 0);
	assert_int_equal(pr_out(1, OUT_REGISTER, 0, 0, 8, APTPL), 0);
	assert_int_equal(pr_out(0, OUT_RESERVE, PR_EA, 7, 0, 0), 0);
	bench_done(&b);
	start();
	assert_int_equal(pr_reserved(1, &key), PR_EA);
	assert_int_equal(key, 7);
	assert_int_equal(write_one(0), 0);
	assert_int_equal(write_one(1), STATUS_RESERVATION_CONFLICT);
}

// Moves the reservation of nexus 0 to tid at the relative port; the sense code.
static uint32_t move(uint16_t port, const uint8_t *tid, uint32_t len)
{
	uint8_t list[512] = { 0 };
	put_be64(list, key_of(0));
	put_be64(list + 8, 0x42);
	list[17] = 0x02;
	put_be16(list + 18, port);
	put_be32(list + 20, len);
	memcpy(list + 24, tid, len);
	pr_out_list(0, OUT_REGISTER_MOVE, 0, list, 24 + len);
	return c.code;
}

static void reserve_here(void)
{
	pr_register(0);
	assert_int_equal(pr_out(0, OUT_RESERVE, PR_WE, key_of(0), 0, 0), 0);
}

static void a_reservation_moves_to_another_srp_port(void **state)
{
	uint8_t tid[256];
	uint64_t key;
	reserve_here();
	assert_int_equal(move(1, tid, tid_of(1, tid)), 0);
	assert_int_equal(pr_reserved(1, &key), PR_WE);
	assert_int_equal(key, 0x42);
	assert_int_equal(write_one(0), STATUS_RESERVATION_CONFLICT);
	assert_int_equal(write_one(1), 0);
}

static void add_iscsi_port(void *arg)
{
	struct err e;
	alua_port_set(b.lu, 9, 0, SCSI_PROTOCOL_ISCSI, "iqn.2026-01.test:target,t,0x0001", &e);
}

static void a_reservation_moves_to_a_port_of_its_protocol_only(void **state)
{
	uint8_t srp[256], iscsi[PR_TID_MAX] = { 0 };
	uint32_t srp_len = tid_of(1, srp);
	uint32_t iscsi_len = pr_tid_put_iscsi(iscsi, "iqn.2026-01.test:a,i,0x00023d000001");
	bench_on_control(&b, add_iscsi_port, NULL);
	reserve_here();
	assert_int_equal(move(9, srp, srp_len), SENSE_INVALID_FIELD_PARAM);
	assert_int_equal(move(1, iscsi, iscsi_len), SENSE_INVALID_FIELD_PARAM);
	assert_int_equal(move(9, iscsi, iscsi_len), 0);
}

#define CLAIM(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM(spec_i_pt_registers_srp_ports),
		CLAIM(full_status_has_the_port_identifier),
		CLAIM(registrations_of_srp_ports_are_saved),
		CLAIM(a_reservation_moves_to_another_srp_port),
		CLAIM(a_reservation_moves_to_a_port_of_its_protocol_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
