// SPDX-License-Identifier: BSD-2-Clause
// Pass-through: commands reach the device whole, and its answers the initiator.
#include "target/scsi/scsi_test.h"

static struct {
	uint8_t cdb[16];
	uint32_t cdb_len, data_len;
	int direction;
	uint8_t status;
	uint32_t residual;
	int res;
	unsigned count;
} device;

static int device_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	bs->limits =
		(struct bs_limits){ .size = 1 << 20, .block_size = 512, .physical_block = 512 };
	return 0;
}

static void device_scsi(struct backstore *bs, struct bs_scsi *io)
{
	device.count++;
	memcpy(device.cdb, io->cdb, io->cdb_len < 16 ? io->cdb_len : 16);
	device.cdb_len = io->cdb_len;
	device.data_len = io->data_len;
	device.direction = io->direction;
	io->status = device.status;
	io->residual = device.residual;
	if (io->direction == BS_SCSI_IN)
		memset(io->sg[0].addr, 0x5a, io->sg[0].len);
	if (io->status == STATUS_CHECK_CONDITION) {
		static const uint8_t sense[18] = {
			0x70, 0, 0x03, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x11
		};
		memcpy(io->sense, sense, sizeof sense);
		io->sense_len = sizeof sense;
	}
	io->done(io, device.res);
}

static const struct bs_option options[] = {
	{.name = "size",			  .type = BS_OPT_SIZE, .offset = offsetof(struct bs_config, size) },
	{ 0},
};
static const struct backstore_type device_type = {
	.name = "device",
	.options = options,
	.size = sizeof(struct backstore),
	.open = device_open,
	.scsi = device_scsi,
	.is_passthrough = true,
};

static void begin(void)
{
	memset(&device, 0, sizeof device);
	start(&(struct bench_options){ .type = &device_type });
	device.count = 0;
}

static void a_read_brings_the_devices_data(void **state)
{
	begin();
	expect_good(BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 9, 0, 0, 1, 0));
	assert_int_equal(device.cdb[5], 9);
	assert_int_equal(device.cdb_len, 10);
	assert_int_equal(device.direction, BS_SCSI_IN);
	assert_int_equal(c.data_in, 512);
	assert_int_equal(c.data[511], 0x5a);
}

static void a_write_takes_all_announced_data_along(void **state)
{
	uint8_t block[512] = { 0 };
	begin();
	expect_good(BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 9, 0, 0, 1, 0));
	assert_int_equal(device.direction, BS_SCSI_OUT);
	assert_int_equal(device.data_len, 512);
}

static void a_residual_of_the_device_is_ours(void **state)
{
	begin();
	device.residual = 500;
	expect_good(BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 9, 0, 0, 1, 0));
	assert_int_equal(c.data_in, 12);
	assert_int_equal(c.wanted, 12);
}

static void sense_of_the_device_is_passed_on(void **state)
{
	begin();
	device.status = STATUS_CHECK_CONDITION;
	BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 9, 0, 0, 1, 0);
	expect_code(SENSE_READ_ERROR);
}

static void a_transport_failure_is_a_hardware_error(void **state)
{
	begin();
	device.res = -121; // -EREMOTEIO
	BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 9, 0, 0, 1, 0);
	expect_code(SENSE_INTERNAL_FAILURE);
}

static void a_command_we_do_not_know_is_the_devices(void **state)
{
	begin();
	expect_good(BENCH_NONE(&b, 0, &c, 0xd1, 1, 2, 3, 4, 0));
	assert_int_equal(device.cdb[0], 0xd1);
	assert_int_equal(device.direction, BS_SCSI_NONE);
}

static void inquiry_is_the_devices(void **state)
{
	begin();
	BENCH_IN(&b, 0, &c, 96, 0x12, 0, 0, 0, 96, 0);
	assert_int_equal(c.data[0], 0x5a);
}

static void report_luns_is_ours(void **state)
{
	begin();
	expect_good(BENCH_IN(&b, 0, &c, 64, 0xa0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0));
	assert_int_equal(device.count, 0);
	assert_int_equal(get_be32(c.data), 8);
}

static void a_write_protected_path_protects_the_device(void **state)
{
	uint8_t block[512] = { 0 };
	begin();
	b.nexuses[0]->luns[0]->is_write_protected = true;
	BENCH_OUT(&b, 0, &c, block, 512, 0x2a, 0, 0, 0, 0, 9, 0, 0, 1, 0);
	expect_code(SENSE_WRITE_PROTECTED);
	BENCH_OUT(&b, 0, &c, block, 512, 0xd2, 0, 0, 0, 0, 9, 0, 0, 1, 0);
	expect_code(SENSE_WRITE_PROTECTED);
	assert_int_equal(device.count, 0);
}

static void unit_attentions_are_told_here_too(void **state)
{
	begin();
	bench_tmf(&b, 0, TMF_LU_RESET, 0);
	assert_int_equal(tur(0), SENSE(SK_UNIT_ATTENTION, 0x29, 0x03));
}

static int refused;

static void make_faulty(void *arg)
{
	struct bs_config config = { .name = "faulty", .size = 1 << 20, .block_size = 512 };
	struct backstore *bs;
	struct lu *lu;
	struct err e;
	struct lu_attr attr;
	attr_defaults(lu_attr_rows, &attr);
	attr.faults.error_read_ppm = 1;
	assert_int_equal(backstore_open(&bs, &device_type, &config, &e), 0);
	refused = lu_new(&lu, "faulty", bs, "1", &attr, NULL, &e);
	backstore_close(bs);
}

static void faults_of_a_device_are_refused_and_nothing_is_left(void **state)
{
	begin();
	refused = 0;
	bench_on_control(&b, make_faulty, NULL);
	assert_true(refused < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_read_brings_the_devices_data),
		T(a_write_takes_all_announced_data_along),
		T(a_residual_of_the_device_is_ours),
		T(sense_of_the_device_is_passed_on),
		T(a_transport_failure_is_a_hardware_error),
		T(a_command_we_do_not_know_is_the_devices),
		T(inquiry_is_the_devices),
		T(report_luns_is_ours),
		T(a_write_protected_path_protects_the_device),
		T(unit_attentions_are_told_here_too),
		T(faults_of_a_device_are_refused_and_nothing_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
