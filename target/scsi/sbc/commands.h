// SPDX-License-Identifier: BSD-2-Clause
// Handlers of SBC: the commands of block devices, by file, for the rows of server/dispatch.c. Each
// runs on the task's worker after the checks of server/submit.c, must not block, and ends the task
// through task_status.h.
#pragma once

struct task;

// read_write.c (SBC-3 5.8, 5.32 ...)
void read_run(struct task *t);
void write_run(struct task *t);

// read_capacity.c, synchronize_cache.c
void read_capacity10_run(struct task *t);   // SBC-3 5.15
void read_capacity16_run(struct task *t);   // SBC-3 5.16
void synchronize_cache_run(struct task *t); // SBC-3 5.22, 5.23

// unmap.c, write_same.c (SBC-3 5.28, 5.42 to 5.44)
void unmap_run(struct task *t);
void write_same_run(struct task *t);

// compare_and_write.c, orwrite.c, write_atomic.c (SBC-3 5.2, 5.7; SBC-4 5.49)
void compare_and_write_run(struct task *t);
void orwrite_run(struct task *t);
void write_atomic_run(struct task *t);

// verify.c, prefetch.c (SBC-3 5.29 to 5.31, 5.37 to 5.39, 5.8, 5.9)
void verify_run(struct task *t);
void write_verify_run(struct task *t);
void prefetch_run(struct task *t);

// lba_status.c (SBC-3 5.4)
void get_lba_status_run(struct task *t);

// sanitize.c (SBC-4 5.28)
void sanitize_overwrite_run(struct task *t);
void sanitize_block_erase_run(struct task *t);
void sanitize_exit_run(struct task *t);

// start_stop.c (SBC-3 5.25)
void start_stop_run(struct task *t);

// read_defects.c (SBC-3 5.13, 5.14)
void read_defect_data10_run(struct task *t);
void read_defect_data12_run(struct task *t);
