// SPDX-License-Identifier: BSD-2-Clause
// The attributes of a storage object as rows: targetcli's names, defaults and ranges first,
// then ours. Constant.
#include "target/scsi/lu_attr.h"

#define FIELD(f) offsetof(struct lu_attr, f)

// Then any other slots.
#define ROW_BOOL(f, def, fl, text, ...)                                                            \
	{                                                                                          \
		.name = #f, .type = ATTR_BOOL, .offset = FIELD(f), .max = 1, .default_text = def,  \
		.help = text, .flags = fl, __VA_ARGS__                                             \
	}
#define ROW_UINT(f, lo, hi, def, un, fl, text, ...)                                                \
	{                                                                                          \
		.name = #f, .type = ATTR_UINT, .offset = FIELD(f), .min = lo, .max = hi,           \
		.default_text = def, .unit = un, .help = text, .flags = fl, __VA_ARGS__            \
	}
#define ROW_FAULT(f, hi, un, text)                                                                 \
	{                                                                                          \
		.name = #f, .type = ATTR_UINT, .offset = FIELD(faults.f), .max = hi,               \
		.default_text = "0", .unit = un, .help = text, .flags = ATTR_OWN                   \
	}
#define ROW_TEXT(f, def, text)                                                                     \
	{                                                                                          \
		.name = #f, .type = ATTR_STRING, .offset = FIELD(f),                               \
		.max = sizeof(((struct lu_attr *)0)->f), .default_text = def, .help = text,        \
		.flags = ATTR_OWN                                                                  \
	}
#define U32 UINT32_MAX

#define NO_PI "protection information is not supported"

const struct attr_row lu_attr_rows[] = {
	ROW_BOOL(alua_support, "1", ATTR_READONLY, "target port groups are supported"),
	ROW_UINT(block_size, 512, 4096, "512", "bytes", ATTR_RESTART,
		 "logical block length: 512, 1024, 2048 or 4096"),
	ROW_BOOL(emulate_3pc, "1", 0, "EXTENDED COPY and token copies"),
	ROW_BOOL(emulate_caw, "1", 0, "COMPARE AND WRITE"),
	ROW_BOOL(emulate_dpo, "1", ATTR_IGNORED, "DPO bit of reads and writes",
		 .no_effect = "emulate_fua_write decides"),
	ROW_BOOL(emulate_fua_read, "1", ATTR_IGNORED, "FUA bit of reads",
		 .no_effect = "emulate_fua_write decides"),
	ROW_BOOL(emulate_fua_write, "1", 0, "accept the DPO and FUA bits (DPOFUA)"),
	ROW_BOOL(emulate_model_alias, "1", 0, "use the storage object's name as INQUIRY product"),
	ROW_BOOL(emulate_pr, "1", 0, "persistent and SPC-2 reservations"),
	ROW_UINT(emulate_rest_reord, 0, 1, "0", NULL, ATTR_IGNORED,
		 "restricted reordering in the Control mode page"),
	ROW_BOOL(emulate_rsoc, "1", ATTR_SPARSE, "REPORT SUPPORTED OPERATION CODES"),
	ROW_BOOL(emulate_tas, "1", 0,
		 "TASK ABORTED status for commands aborted by another initiator"),
	ROW_BOOL(emulate_tpu, "0", 0, "thin provisioning with UNMAP"),
	ROW_BOOL(emulate_tpws, "0", 0, "thin provisioning with WRITE SAME and the UNMAP bit"),
	ROW_UINT(emulate_ua_intlck_ctrl, 0, 2, "0", NULL, 0,
		 "unit attentions: 0 cleared when reported, 1 kept, 2 kept and set after BUSY"),
	ROW_BOOL(emulate_write_cache, "0", 0,
		 "volatile write cache (WCE), if the backstore has one"),
	ROW_BOOL(enforce_pr_isids, "1", 0, "a registration belongs to one ISID"),
	ROW_BOOL(force_pr_aptpl, "0", 0, "reservations always persist through power loss"),
	ROW_UINT(hw_block_size, 0, U32, "0", "bytes", ATTR_READONLY, "value of the backstore"),
	ROW_UINT(hw_max_sectors, 0, U32, "0", "blocks", ATTR_READONLY, "largest transfer"),
	ROW_UINT(hw_pi_prot_type, 0, 3, "0", NULL, ATTR_READONLY, "value of the backstore"),
	ROW_UINT(hw_queue_depth, 0, U32, "0", "commands", ATTR_READONLY, "value of the backstore"),
	ROW_BOOL(is_nonrot, "0", 0, "report solid state even if the backstore rotates"),
	ROW_UINT(max_unmap_block_desc_count, 0, 4095, "0", "descriptors", 0,
		 "limit of one UNMAP; 0: the maximum"),
	ROW_UINT(max_unmap_lba_count, 0, U32, "0", "blocks", 0,
		 "limit of one UNMAP; 0: the maximum"),
	ROW_UINT(max_write_same_len, 0, U32, "0", "blocks", 0,
		 "limit of one WRITE SAME; 0: the maximum"),
	ROW_UINT(optimal_sectors, 0, U32, "0", "blocks", 0,
		 "optimal transfer length; 0: the backstore's"),
	ROW_BOOL(pgr_support, "1", ATTR_READONLY, "persistent reservations are supported"),
	ROW_UINT(pi_prot_format, 0, 1, "0", NULL, ATTR_IGNORED, "protection information",
		 .no_effect = NO_PI),
	ROW_UINT(pi_prot_type, 0, 3, "0", NULL, ATTR_IGNORED, "protection information",
		 .no_effect = NO_PI),
	ROW_UINT(pi_prot_verify, 0, 1, "0", NULL, ATTR_IGNORED, "protection information",
		 .no_effect = NO_PI),
	ROW_UINT(queue_depth, 1, 65535, "512", "commands", 0,
		 "commands of one initiator before TASK SET FULL"),
	ROW_UINT(submit_type, 0, 2, "0", NULL, ATTR_IGNORED | ATTR_SPARSE,
		 "submission in the kernel's target"),
	ROW_UINT(unmap_granularity, 0, U32, "0", "blocks", 0,
		 "optimal unmap granularity; 0: the backstore's"),
	ROW_UINT(unmap_granularity_alignment, 0, 0x7fffffff, "0", "blocks", 0,
		 "first aligned unmap block"),
	ROW_UINT(unmap_zeroes_data, 0, 1, "0", NULL, 0, "unmapped blocks read as zeroes (LBPRZ)",
		 .no_effect = "the storage decides what unmapped blocks read as"),
 // ours
	ROW_BOOL(removable, "0", ATTR_OWN, "removable medium: eject, load, prevent removal"),
	{.name = "max_transfer_kib",
										      .type = ATTR_UINT,
										      .offset = FIELD(max_transfer_kib),
										      .min = 64,
										      .max = 32768,
										      .default_text = "8192",
										      .unit = "KiB",
										      .help = "MAXIMUM TRANSFER LENGTH; longer reads and writes are served in pieces",
										      .flags = ATTR_OWN },
	ROW_UINT(max_caw_blocks, 0, 255, "128", "blocks", ATTR_OWN,
		 "largest COMPARE AND WRITE; 0: 255"),
	ROW_UINT(atomic_write_kib, 0, 1024, "0", "KiB", ATTR_OWN,
		 "largest WRITE ATOMIC that is all or nothing even at power failure; 0: not "
		 "supported"),
	ROW_UINT(thin_threshold_percent, 0, 99, "0", "%", ATTR_OWN,
		 "used space that raises THIN PROVISIONING SOFT THRESHOLD REACHED; 0: disabled"),
	ROW_FAULT(error_read_ppm, 1000000, "ppm", "read errors injected per million"),
	ROW_FAULT(error_write_ppm, 1000000, "ppm", "write errors injected per million"),
	ROW_FAULT(error_flush_ppm, 1000000, "ppm", "flush errors injected per million"),
	ROW_FAULT(delay_read_us, 60000000, "us", "delay of every read"),
	ROW_FAULT(delay_write_us, 60000000, "us", "delay of every write"),
	ROW_FAULT(delay_flush_us, 60000000, "us", "delay of every flush"),
	ROW_TEXT(vendor, "FARBLOCK", "INQUIRY vendor identification"),
	ROW_TEXT(product, "FARBLOCK DISK", "INQUIRY product identification"),
	ROW_TEXT(revision, "0001", "INQUIRY product revision level"),
	{ 0},
};
