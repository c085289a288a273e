// SPDX-License-Identifier: BSD-2-Clause
// Pass-through: commands reach the device whole, and its answers the initiator.
#include "target/scsi/lu_attr.h"
#include "target/scsi/nexus_lun.h"
#include "target/scsi/scsi_test.h"
#include "target/scsi/server/device_server.h"

static struct {
	uint8_t cdb[16];
	uint32_t cdb_len, data_len;
	int direction;
	uint8_t type, status, sense_key;
	uint32_t residual;
	int res;
	unsigned count;
} device;

static int device_open(struct backstore *bs, const struct bs_config *config, struct err *e)
{
	bs->limits = (struct bs_limits){ .size = 1 << 20,
					 .block_size = 512,
					 .physical_block = 512,
					 .device_type = device.type };
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
		const uint8_t sense[18] = { 0x70, 0,   device.sense_key, 0, 0, 0, 0, 10, 0, 0, 0,
					    0,	  0x11 };
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

static void begin_type(uint8_t type)
{
	memset(&device, 0, sizeof device);
	device.type = type;
	device.sense_key = SK_MEDIUM_ERROR;
	start(&(struct bench_options){ .type = &device_type });
	device.count = 0;
}

static void begin(void)
{
	begin_type(0);
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

static void read_that_fails_with(uint8_t sense_key)
{
	begin();
	device.status = STATUS_CHECK_CONDITION;
	device.sense_key = sense_key;
	device.residual = 100;
	BENCH_IN(&b, 0, &c, 512, 0x28, 0, 0, 0, 0, 9, 0, 0, 1, 0);
	assert_int_equal(c.status, STATUS_CHECK_CONDITION);
}

// What a driver leaves as the residual then is not to be relied on.
static void a_read_that_fails_brings_nothing(void **state)
{
	read_that_fails_with(SK_MEDIUM_ERROR);
	assert_int_equal(c.data_in, 0);
	assert_int_equal(c.wanted, 0);
}

// A tape tells a block of another length, a filemark or the end of the data like this.
static void data_comes_with_a_condition_that_is_no_failure(void **state)
{
	static const uint8_t keys[] = { SK_NO_SENSE, SK_RECOVERED, SK_BLANK_CHECK };
	for (unsigned i = 0; i < sizeof keys; i++) {
		read_that_fails_with(keys[i]);
		assert_int_equal(c.data_in, 412);
		assert_int_equal(c.wanted, 412);
		assert_int_equal(c.data[411], 0x5a);
		stop(NULL);
	}
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

// Through a protected path; true if the device got it.
static bool reaches(uint8_t opcode, uint8_t sa)
{
	const uint8_t cdb[16] = { opcode, sa };
	b.nexuses[0]->luns[0]->is_write_protected = true;
	device.count = 0;
	bench_run(&b, 0, &c, cdb, 16, NULL, 0, 0);
	if (!device.count && opcode != 0xa0) // REPORT LUNS is ours
		expect_code(SENSE_WRITE_PROTECTED);
	return device.count;
}

struct allowed {
	uint8_t opcode;
	uint32_t actions; // a bit for each service action
};

static void expect_allowed(uint8_t type, const struct allowed *a, unsigned n)
{
	begin_type(type);
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		uint32_t actions = 0, expected = 0;
		for (unsigned sa = 0; sa < 32; sa++)
			actions |= (uint32_t)reaches((uint8_t)opcode, (uint8_t)sa) << sa;
		for (unsigned i = 0; i < n; i++)
			expected |= a[i].opcode == opcode ? a[i].actions : 0;
		if (actions != expected)
			fail_msg("%02x: actions %08x, not %08x", opcode, actions, expected);
	}
}

#define EXPECT_ALLOWED(type, a) expect_allowed(type, a, sizeof(a) / sizeof((a)[0]))
#define ALL			UINT32_MAX
// TEST UNIT READY .. RECEIVE DIAGNOSTIC RESULTS, LOG SENSE, MODE SENSE(10), PERSISTENT RESERVE IN,
// RECEIVE COPY OPERATING PARAMETERS, READ ATTRIBUTE
#define ANY_DEVICE                                                                                 \
	{ 0x00, ALL }, { 0x03, ALL }, { 0x12, ALL }, { 0x1a, ALL }, { 0x1c, ALL }, { 0x4d, ALL },  \
		{ 0x5a, ALL }, { 0x5e, ALL }, { 0x84, 1u << 3 },                                   \
	{                                                                                          \
		0x8c, ALL                                                                          \
	}
#define MAINTENANCE_IN                                                                             \
	{                                                                                          \
		0xa3, 1u << 5 | 1u << 10 | 1u << 12 | 1u << 13 | 1u << 15                          \
	}

// Neither FORMAT UNIT, WRITE LONG with WR_UNCOR, zone resets, ATA PASS-THROUGH, copies, MODE
// SELECT, START STOP UNIT nor what is vendor-specific.
static void a_protected_path_only_reads_a_disk(void **state)
{
	static const struct allowed disk[] = {
		ANY_DEVICE,    MAINTENANCE_IN, {0x08,  ALL			   },
		{ 0x25, ALL		    },
		       { 0x28, ALL			   },
		       { 0x2f, ALL			   },
		{ 0x34, ALL		    },
		       { 0x35, ALL			   },
		       { 0x37, ALL			   },
		{ 0x88, ALL		    },
		       { 0x8f, ALL			   },
		       { 0x90, ALL			   },
		{ 0x91, ALL		    },
		       { 0x95, 1u			  },
		       { 0x9e, 1u << 0x10 | 1u << 0x12},
		{ 0xa8, ALL		    },
		       { 0xaf, ALL			   },
		       { 0xb7, ALL			   },
	};
	EXPECT_ALLOWED(0x00, disk);
}

static void a_protected_path_positions_and_reads_a_tape(void **state)
{
	static const struct allowed tape[] = {
		ANY_DEVICE,    MAINTENANCE_IN, {0x01,  ALL},
		      { 0x05, ALL},
		{ 0x08, ALL},
		       { 0x0f, ALL},
		       { 0x11, ALL},
		      { 0x13, ALL},
		{ 0x2b, ALL},
		       { 0x34, ALL},
		       { 0x44, ALL},
		      { 0x81, ALL},
		{ 0x88, ALL},
		       { 0x8f, ALL},
		       { 0x91, ALL},
		      { 0x92, ALL},
	};
	EXPECT_ALLOWED(0x01, tape);
}

// A3h is SEND KEY there.
static void a_protected_path_only_reads_a_disc(void **state)
{
	static const struct allowed disc[] = {
		ANY_DEVICE,    {0x23,  ALL},
		      { 0x25, ALL},
		     { 0x28, ALL},
		    { 0x2f, ALL},
		{ 0x42, ALL},
		       { 0x43, ALL},
		      { 0x46, ALL},
		     { 0x4a, ALL},
		    { 0x51, ALL},
		{ 0x52, ALL},
		       { 0x5c, ALL},
		      { 0xa8, ALL},
		     { 0xac, ALL},
		    { 0xad, ALL},
		{ 0xb9, ALL},
		       { 0xbd, ALL},
		      { 0xbe, ALL},
	};
	EXPECT_ALLOWED(0x05, disc);
}

static void a_protected_path_moves_nothing_in_a_changer(void **state)
{
	static const struct allowed changer[] = {
		ANY_DEVICE, MAINTENANCE_IN, {0xb8, ALL}
	};
	EXPECT_ALLOWED(0x08, changer);
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
	refused = lu_new(&lu, &device_server, "faulty", bs, "1", &attr, NULL, &e);
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
		T(a_read_that_fails_brings_nothing),
		T(data_comes_with_a_condition_that_is_no_failure),
		T(a_transport_failure_is_a_hardware_error),
		T(a_command_we_do_not_know_is_the_devices),
		T(inquiry_is_the_devices),
		T(report_luns_is_ours),
		T(a_write_protected_path_protects_the_device),
		T(a_protected_path_only_reads_a_disk),
		T(a_protected_path_positions_and_reads_a_tape),
		T(a_protected_path_only_reads_a_disc),
		T(a_protected_path_moves_nothing_in_a_changer),
		T(unit_attentions_are_told_here_too),
		T(faults_of_a_device_are_refused_and_nothing_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
