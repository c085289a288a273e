// SPDX-License-Identifier: BSD-2-Clause
// The handlers of dispatch.c's rows, by file. Each runs on the task's worker after the checks of
// submit.c, must not block, and ends the task through task.h.
#pragma once

#include <stdbool.h>

struct lu;
struct task;

// inquiry.c, vpd.c (SPC-4 6.6, 7.8)
void inquiry_run(struct task *t);

// mode_sense.c, mode_select.c (SPC-4 6.9 to 6.12, 7.5)
void mode_sense6_run(struct task *t);
void mode_sense10_run(struct task *t);
void mode_select6_run(struct task *t);
void mode_select10_run(struct task *t);

// spc_misc.c
void test_unit_ready_run(struct task *t); // SPC-4 6.47
void request_sense_run(struct task *t);	  // SPC-4 6.39
bool prevent_allow_is_available(const struct lu *lu);
void prevent_allow_run(struct task *t);	     // SPC-4 6.17
void send_diagnostic_run(struct task *t);    // SPC-4 6.42
void receive_diagnostic_run(struct task *t); // SPC-4 6.28

// report.c
void report_luns_run(struct task *t);	 // SPC-4 6.33
void report_opcodes_run(struct task *t); // SPC-4 6.35
void report_tmfs_run(struct task *t);	 // SPC-4 6.36
bool report_opcodes_is_available(const struct lu *lu);

// sbc_rw.c (SBC-3 5.8, 5.32 ...)
void read_run(struct task *t);
void write_run(struct task *t);

// sbc_misc.c
void read_capacity10_run(struct task *t);   // SBC-3 5.15
void read_capacity16_run(struct task *t);   // SBC-3 5.16
void synchronize_cache_run(struct task *t); // SBC-3 5.22, 5.23

// pr_in.c, pr_out.c (SPC-4 6.15, 6.16)
void pr_read_keys_run(struct task *t);
void pr_read_reservation_run(struct task *t);
void pr_report_capabilities_run(struct task *t);
void pr_read_full_status_run(struct task *t);
void pr_out_run(struct task *t);
bool pr_is_available(const struct lu *lu); // RESERVE and RELEASE too

// reserve.c (SPC-2 7.16, 7.21)
void reserve_run(struct task *t);
void release_run(struct task *t);

// alua_report.c, alua_set.c (SPC-4 6.37, 6.45)
void report_target_port_groups_run(struct task *t);
void set_target_port_groups_run(struct task *t);
bool alua_is_available(const struct lu *lu);
bool alua_is_settable(const struct lu *lu);

// sbc_unmap.c, sbc_write_same.c (SBC-3 5.28, 5.42 to 5.44)
void unmap_run(struct task *t);
void write_same_run(struct task *t);

// sbc_caw.c, sbc_orwrite.c, sbc_atomic.c (SBC-3 5.2, 5.7; SBC-4 5.49)
void compare_and_write_run(struct task *t);
void orwrite_run(struct task *t);
void write_atomic_run(struct task *t);

// sbc_verify.c, sbc_prefetch.c (SBC-3 5.29 to 5.31, 5.37 to 5.39, 5.8, 5.9)
void verify_run(struct task *t);
void write_verify_run(struct task *t);
void prefetch_run(struct task *t);

// sbc_lba_status.c (SBC-3 5.4)
void get_lba_status_run(struct task *t);

// sbc_sanitize.c (SBC-4 5.28)
void sanitize_overwrite_run(struct task *t);
void sanitize_block_erase_run(struct task *t);
void sanitize_exit_run(struct task *t);

// sbc_start_stop.c (SBC-3 5.25)
void start_stop_run(struct task *t);

// xcopy.c, xcopy_results.c (SPC-4 6.4, 6.17, 6.18, 6.20)
void extended_copy_run(struct task *t);
void receive_copy_status_run(struct task *t);
void receive_copy_parameters_run(struct task *t);
void receive_copy_failure_run(struct task *t);
bool third_party_is_available(const struct lu *lu);

// odx.c, odx_info.c (SBC-3 5.7, 5.37, 5.22)
void odx_run(struct task *t);
void receive_rod_token_run(struct task *t);

// sbc_defects.c (SBC-3 5.13, 5.14)
void read_defect_data10_run(struct task *t);
void read_defect_data12_run(struct task *t);
