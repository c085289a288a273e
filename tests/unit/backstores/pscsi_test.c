// SPDX-License-Identifier: BSD-2-Clause
// pscsi without a SCSI device: argument checks, and the translation to and from SG_IO.
#include "backstores/io_util.h"

#include "backstores/pscsi_sg.h"

static void what_cannot_be_a_scsi_device_is_refused(void **state)
{
	static const struct {
		const char *dev;
		int code;
		const char *word;
	} cases[] = {
		{"/dev/there-is-none", -ENOENT, "No such file"			},
		{ "99:0:0:0",	      -ENODEV, "no SCSI device 99:0:0:0 (see lsscsi"},
		{ "0:0:0",		   -ENOENT, "0:0:0: No such file"		  },
		{ "0:0:0:0x",	      -ENOENT, "0:0:0:0x: No such file"		},
		{ "/etc/passwd",	 -EINVAL, "not a device (give /dev/sgN"	},
		{ "/tmp",		  -EINVAL, "not a device"			  },
		{ "/dev/null",	       -EINVAL, "no response to SCSI commands"       },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bs_config c = config_of("pscsi", "p0");
		c.dev = cases[i].dev;
		must_refuse("pscsi", &c, cases[i].code, "pscsi p0: ", cases[i].word);
	}
}

static void pscsi_needs_a_device_and_takes_no_size(void **state)
{
	struct bs_config c = config_of("pscsi", "p0");
	must_refuse("pscsi", &c, -EINVAL, "dev: missing", "H:C:T:L");
	c.dev = "0:0:0:0";
	c.size = MIB;
	must_refuse("pscsi", &c, -EINVAL, "size: pscsi has no such option", "dev");
}

static uint8_t cdb[16] = { 0x28 }, data[3][512];
static struct sg three[3] = {
	{.addr = data[0],  .len = 512},
	{ .addr = data[1], .len = 512},
	{ .addr = data[2], .len = 512}
};

static struct bs_scsi read_of(uint32_t nsg)
{
	return (struct bs_scsi){ .cdb = cdb,
				 .cdb_len = 10,
				 .direction = BS_SCSI_IN,
				 .sg = three,
				 .nsg = nsg,
				 .data_len = nsg * 512 };
}

static void version_3_takes_a_list(void **state)
{
	struct bs_scsi io = read_of(3);
	struct sg_io_hdr h;
	assert_true(pscsi_is_direct(&io, false));
	pscsi_fill_v3(&h, &io);
	assert_int_equal(h.interface_id, 'S');
	assert_int_equal(h.dxfer_direction, SG_DXFER_FROM_DEV);
	assert_int_equal(h.dxfer_len, 1536);
	assert_int_equal(h.iovec_count, 3);
	assert_ptr_equal(h.dxferp, io.iov);
	assert_ptr_equal(io.iov[2].iov_base, data[2]);
	assert_int_equal(io.iov[2].iov_len, 512);
	assert_ptr_equal(h.cmdp, cdb);
	assert_int_equal(h.cmd_len, 10);
	assert_int_equal(h.timeout, PSCSI_TIMEOUT_MS);
}

static void one_piece_goes_without_a_list(void **state)
{
	struct bs_scsi io = read_of(1);
	struct sg_io_hdr h;
	io.direction = BS_SCSI_OUT;
	io.timeout_ms = 5;
	pscsi_fill_v3(&h, &io);
	assert_int_equal(h.dxfer_direction, SG_DXFER_TO_DEV);
	assert_int_equal(h.iovec_count, 0);
	assert_ptr_equal(h.dxferp, data[0]);
	assert_int_equal(h.timeout, 5);
}

static void no_data_is_no_direction(void **state)
{
	struct bs_scsi io = { .cdb = cdb, .cdb_len = 6 };
	struct sg_io_hdr h;
	struct sg_io_v4 v4;
	pscsi_fill_v3(&h, &io);
	assert_int_equal(h.dxfer_direction, SG_DXFER_NONE);
	assert_int_equal(h.dxfer_len, 0);
	pscsi_fill_v4(&v4, &io);
	assert_int_equal(v4.din_xfer_len, 0);
	assert_int_equal(v4.dout_xfer_len, 0);
}

static void version_4_takes_one_piece_or_the_bounce_buffer(void **state)
{
	struct bs_scsi io = read_of(3);
	struct sg_io_v4 h;
	assert_false(pscsi_is_direct(&io, true));
	io.bounce = data;
	pscsi_fill_v4(&h, &io);
	assert_int_equal(h.guard, 'Q');
	assert_int_equal(h.din_xferp, (uintptr_t)data);
	assert_int_equal(h.din_xfer_len, 1536);
	assert_int_equal(h.dout_xfer_len, 0);
	io = read_of(1);
	io.direction = BS_SCSI_OUT;
	assert_true(pscsi_is_direct(&io, true));
	pscsi_fill_v4(&h, &io);
	assert_int_equal(h.dout_xferp, (uintptr_t)data[0]);
	assert_int_equal(h.din_xfer_len, 0);
}

// The kernel may tell residual 0 although less came: what is left must not be others' data.
static void the_memory_for_data_in_is_cleared(void **state)
{
	static const uint8_t zeroes[sizeof(data)];
	struct bs_scsi io = read_of(3);
	struct sg_io_hdr h;
	struct sg_io_v4 v4;
	memset(data, 0x5e, sizeof(data));
	pscsi_fill_v3(&h, &io);
	assert_memory_equal(data, zeroes, sizeof(data));
	memset(data, 0x5e, sizeof(data));
	io.bounce = data;
	pscsi_fill_v4(&v4, &io);
	assert_memory_equal(data, zeroes, sizeof(data));
	memset(data, 0x5e, sizeof(data));
	io.direction = BS_SCSI_OUT;
	pscsi_fill_v4(&v4, &io);
	assert_int_equal(data[2][511], 0x5e);
}

static void a_list_longer_than_64_needs_the_bounce_buffer(void **state)
{
	struct bs_scsi io = read_of(3);
	io.nsg = 64;
	assert_true(pscsi_is_direct(&io, false));
	io.nsg = 65;
	assert_false(pscsi_is_direct(&io, false));
}

static void status_sense_and_residual_come_back(void **state)
{
	struct bs_scsi io = read_of(3);
	struct sg_io_hdr h = { .status = 2, .sb_len_wr = 18, .resid = 512, .driver_status = 8 };
	assert_int_equal(pscsi_result_v3(&h, &io), 0);
	assert_int_equal(io.status, 2);
	assert_int_equal(io.sense_len, 18);
	assert_int_equal(io.residual, 512);

	io = read_of(1);
	io.direction = BS_SCSI_OUT;
	struct sg_io_v4 v4 = {
		.device_status = 2, .response_len = 200, .dout_resid = 100, .din_resid = 7
	};
	assert_int_equal(pscsi_result_v4(&v4, &io), 0);
	assert_int_equal(io.sense_len, sizeof(io.sense));
	assert_int_equal(io.residual, 100);
}

static void a_residual_is_never_more_than_the_data(void **state)
{
	struct bs_scsi io = read_of(1);
	struct sg_io_hdr h = { .resid = 100000 };
	pscsi_result_v3(&h, &io);
	assert_int_equal(io.residual, 512);
	h.resid = -5;
	pscsi_result_v3(&h, &io);
	assert_int_equal(io.residual, 0);
}

static void trouble_of_the_host_is_no_status(void **state)
{
	struct bs_scsi io = read_of(1);
	struct sg_io_hdr h = { .host_status = 3 };
	assert_int_equal(pscsi_result_v3(&h, &io), -ETIMEDOUT);
	h.host_status = 1;
	assert_int_equal(pscsi_result_v3(&h, &io), -EREMOTEIO);
	h.host_status = 0;
	h.driver_status = 6;
	assert_int_equal(pscsi_result_v3(&h, &io), -EREMOTEIO);
}

static void capacities_are_read_and_checked(void **state)
{
	static const struct {
		uint8_t bytes[12];
		bool is_good_10, is_good_16;
		uint64_t size_10, size_16;
	} cases[] = {
	// last LBA 0xff in blocks of 512; as (16): the block length is missing
		{{ 0, 0, 0, 0xff, 0, 0, 2, 0 },					 true,  false, 256 * 512, 0			   },
 // (16): last LBA 0x1_0000_0000 in blocks of 4096; as (10): no block length
		{ { 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 16, 0 },
		  false,								  true,
		  0,											(0x100000000ull + 1) * 4096},
 // more than (10) can tell
		{ { 0xff, 0xff, 0xff, 0xff, 0, 0, 2, 0 },			  false, false, 0,	   0			     },
 // block lengths that are none
		{ { 0, 0, 0, 9, 0, 0, 2, 8 },				      false, false, 0,	       0				 },
		{ { 0 },							  false, false, 0,	  0			    },
 // last LBA + 1, and the product, overflow
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 2, 0 },
		  false,								  false,
		  0,											0			  },
		{ { 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0 },			     false, false, 0,	      0				},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t size = 0;
		uint32_t block = 0;
		assert_int_equal(pscsi_capacity_10(cases[i].bytes, 8, &size, &block),
				 cases[i].is_good_10);
		assert_int_equal(size, cases[i].size_10);
		size = 0;
		assert_int_equal(pscsi_capacity_16(cases[i].bytes, 12, &size, &block),
				 cases[i].is_good_16);
		assert_int_equal(size, cases[i].size_16);
	}
	uint64_t size;
	uint32_t block;
	assert_false(pscsi_capacity_10(cases[0].bytes, 7, &size, &block));
	assert_false(pscsi_capacity_16(cases[1].bytes, 11, &size, &block));
}

struct waited_scsi {
	struct bs_scsi io;
	struct backstore *bs;
	int res;
};

static void scsi_done(struct bs_scsi *io, int res)
{
	container_of(io, struct waited_scsi, io)->res = res;
}

static void scsi_submit(void *arg)
{
	struct waited_scsi *w = arg;
	backstore_scsi(w->bs, &w->io);
}

static void other_types_refuse_scsi_commands(void **state)
{
	struct bs_config c = config_of("ramdisk", "rd0");
	c.size = MIB;
	struct waited_scsi w = { .io = read_of(1), .res = 1 };
	w.bs = must_open("ramdisk", &c);
	w.io.done = scsi_done;
	assert_false(w.bs->ops.is_passthrough);
	worker_call(worker, scsi_submit, &w);
	assert_int_equal(w.res, -EOPNOTSUPP);
	backstore_close(w.bs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_a_scsi_device_is_refused),
		cmocka_unit_test(pscsi_needs_a_device_and_takes_no_size),
		cmocka_unit_test(version_3_takes_a_list),
		cmocka_unit_test(one_piece_goes_without_a_list),
		cmocka_unit_test(no_data_is_no_direction),
		cmocka_unit_test(version_4_takes_one_piece_or_the_bounce_buffer),
		cmocka_unit_test(the_memory_for_data_in_is_cleared),
		cmocka_unit_test(a_list_longer_than_64_needs_the_bounce_buffer),
		cmocka_unit_test(status_sense_and_residual_come_back),
		cmocka_unit_test(a_residual_is_never_more_than_the_data),
		cmocka_unit_test(trouble_of_the_host_is_no_status),
		cmocka_unit_test(capacities_are_read_and_checked),
		cmocka_unit_test(other_types_refuse_scsi_commands),
	};
	return cmocka_run_group_tests(tests, start_worker, stop_worker);
}
