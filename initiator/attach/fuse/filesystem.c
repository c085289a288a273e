// SPDX-License-Identifier: BSD-2-Clause
// See filesystem.h. libfuse's session is made on the program's thread; its descriptor is watched
// and its requests are processed on the disk's worker. Nothing is cached by the kernel: the file is
// opened for direct I/O, and its size is asked for each time, so that a disk may grow.
#include "initiator/attach/fuse/filesystem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/worker.h"
#include "initiator/attach/fuse/requests.h"

#define FILE_INO 2  // FUSE_ROOT_ID is the directory
#define READS	 64 // a round
#define PARALLEL 64 // asynchronous requests that the kernel sends at once

struct filesystem {
	struct filesystem_config config;
	struct disk *disk;
	struct worker *worker;
	struct fuse_session *session;
	struct requests *requests;
	struct fuse_buf buf; // libfuse allocates its memory
	struct watch watch;
	struct defer receive;
	time_t since;
	unsigned opens;
	bool has_ended;
};

static struct filesystem *of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

// ---- names and attributes ----

static struct stat attributes(const struct filesystem *fs, fuse_ino_t ino)
{
	const struct disk_facts *f = disk_facts(fs->disk);
	struct stat st = { .st_ino = ino, .st_nlink = 1, .st_mode = S_IFREG };

	st.st_atime = st.st_mtime = st.st_ctime = fs->since;
	if (ino == FUSE_ROOT_ID) {
		st.st_mode = S_IFDIR | 0500;
		st.st_nlink = 2;
		return st;
	}
	st.st_mode |= f->is_read_only ? 0400 : 0600;
	st.st_size = (off_t)(f->blocks * f->block_size);
	st.st_blocks = st.st_size / 512;
	st.st_blksize = (blksize_t)f->block_size;
	return st;
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct filesystem *fs = of(req);
	struct fuse_entry_param entry = { .ino = FILE_INO, .attr = attributes(fs, FILE_INO) };

	if (parent != FUSE_ROOT_ID || strcmp(name, fs->config.name) != 0)
		fuse_reply_err(req, ENOENT);
	else
		fuse_reply_entry(req, &entry);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st = attributes(of(req), ino);

	if (ino > FILE_INO)
		fuse_reply_err(req, ENOENT);
	else
		fuse_reply_attr(req, &st, 0);
}

static void on_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	struct filesystem *fs = of(req);
	const struct {
		const char *name;
		fuse_ino_t ino;
	} entries[] = {
		{".",	       FUSE_ROOT_ID},
		{ "..",		FUSE_ROOT_ID},
		{ fs->config.name, FILE_INO    },
	};
	char buf[1024];
	size_t len = 0;

	if (ino != FUSE_ROOT_ID || offset < 0) {
		fuse_reply_err(req, ENOTDIR);
		return;
	}
	size = size < sizeof buf ? size : sizeof buf;
	for (off_t i = offset; i < 3; i++) {
		struct stat st = attributes(fs, entries[i].ino);
		size_t n =
			fuse_add_direntry(req, buf + len, size - len, entries[i].name, &st, i + 1);
		if (n > size - len)
			break;
		len += n;
	}
	fuse_reply_buf(req, buf, len);
}

static void on_statfs(fuse_req_t req, fuse_ino_t ino)
{
	const struct disk_facts *f = disk_facts(of(req)->disk);
	struct statvfs st = {
		.f_bsize = f->block_size,
		.f_frsize = f->block_size,
		.f_blocks = f->blocks,
		.f_files = 1,
		.f_namemax = 255,
	};

	fuse_reply_statfs(req, &st);
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct filesystem *fs = of(req);

	if (ino != FILE_INO) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	if ((fi->flags & O_ACCMODE) != O_RDONLY && disk_facts(fs->disk)->is_read_only) {
		fuse_reply_err(req, EROFS);
		return;
	}
	fi->direct_io = 1;
	fs->opens++;
	if (fuse_reply_open(req, fi) < 0) // the program that opened it has gone
		fs->opens--;
}

static void on_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	of(req)->opens--;
	fuse_reply_err(req, 0);
}

// ---- data ----

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	requests_read(of(req)->requests, req, offset, size);
}

static void on_write(fuse_req_t req, fuse_ino_t ino, struct fuse_bufvec *v, off_t offset,
		     struct fuse_file_info *fi)
{
	if (v->count != 1 || v->off || v->buf[0].flags & FUSE_BUF_IS_FD)
		fuse_reply_err(req, EIO);
	else
		requests_write(of(req)->requests, req, offset, v->buf[0].mem, v->buf[0].size);
}

static void on_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	requests_flush(of(req)->requests, req);
}

static void on_fsync(fuse_req_t req, fuse_ino_t ino, int is_data, struct fuse_file_info *fi)
{
	requests_flush(of(req)->requests, req);
}

// A hole reads as zeroes, and the loop device relies on it for REQ_OP_WRITE_ZEROES; what UNMAP
// leaves may read as anything. So a hole is WRITE SAME of zeroes that may unmap.
static void on_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t len,
			 struct fuse_file_info *fi)
{
	bool is_hole = mode == (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);

	if (!is_hole && (mode & ~FALLOC_FL_KEEP_SIZE) != FALLOC_FL_ZERO_RANGE)
		fuse_reply_err(req, EOPNOTSUPP);
	else
		requests_zero(of(req)->requests, req, offset, len, is_hole);
}

// Data goes by read and write: pipes would cost a copy more.
static void on_init(void *arg, struct fuse_conn_info *conn)
{
	conn->want &=
		~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	conn->want |= conn->capable & FUSE_CAP_ASYNC_DIO;
	conn->max_write = BUF_MAX;
	conn->max_read = BUF_MAX; // as the option of the mount
	conn->max_background = PARALLEL;
	conn->congestion_threshold = PARALLEL;
}

static const struct fuse_lowlevel_ops ops = {
	.init = on_init,
	.lookup = on_lookup,
	.getattr = on_getattr,
	.readdir = on_readdir,
	.statfs = on_statfs,
	.open = on_open,
	.release = on_release,
	.read = on_read,
	.write_buf = on_write,
	.flush = on_flush,
	.fsync = on_fsync,
	.fallocate = on_fallocate,
};

// ---- the session, on the worker ----

static void end(struct filesystem *fs, int code)
{
	struct err why;

	watch_remove(fs->worker, &fs->watch);
	if (fs->has_ended)
		return;
	fs->has_ended = true;
	if (code)
		err_errno(&why, code, "fuse: %s: receive", fs->config.place);
	else
		err_set(&why, -ENODEV, "%s: it was unmounted", fs->config.place);
	fs->config.ended(fs->config.arg, &why);
}

static void receive(struct filesystem *fs);

static void run_receive(struct defer *d)
{
	receive(container_of(d, struct filesystem, receive));
}

static void receive(struct filesystem *fs)
{
	for (unsigned i = 0; requests_have_room(fs->requests); i++) {
		if (i == READS) {
			worker_defer(fs->worker, &fs->receive, run_receive);
			return;
		}
		int n = fuse_session_receive_buf(fs->session, &fs->buf);
		if (n == -EAGAIN)
			return;
		if (n == -EINTR || n == -ENOENT) // the latter: its program was killed
			continue;
		if (n <= 0) {
			end(fs, n);
			return;
		}
		fuse_session_process_buf(fs->session, &fs->buf);
	}
}

static void has_room(void *arg)
{
	struct filesystem *fs = arg;

	if (fs->watch.fd >= 0)
		receive(fs);
}

static void has_events(struct watch *w, uint32_t events)
{
	receive(container_of(w, struct filesystem, watch));
}

struct call {
	struct filesystem *fs;
	struct err *e;
	int r;
	unsigned opens;
};

static void run_begin(void *arg)
{
	struct call *c = arg;
	struct filesystem *fs = c->fs;

	c->r = requests_new(&fs->requests, fs->disk, has_room, fs, c->e);
	if (c->r)
		return;
	c->r = watch_add(fs->worker, &fs->watch, fuse_session_fd(fs->session), EPOLLIN);
	if (c->r < 0)
		err_errno(c->e, c->r, "fuse: watch");
}

static void run_end(void *arg)
{
	struct filesystem *fs = arg;

	fs->has_ended = true;
	watch_remove(fs->worker, &fs->watch);
	worker_defer_cancel(&fs->receive);
	requests_free(fs->requests);
}

static void run_opens(void *arg)
{
	struct call *c = arg;

	c->opens = c->fs->opens;
}

static void run_fail(void *arg)
{
	requests_fail(((struct filesystem *)arg)->requests);
}

static void run_stopping(void *arg)
{
	((struct filesystem *)arg)->has_ended = true;
}

// ---- life ----

// libfuse's own words, as of an unmount that has been done.
__attribute__((format(printf, 2, 0))) static void on_log(enum fuse_log_level level, const char *fmt,
							 va_list list)
{
	char text[240];

	vsnprintf(text, sizeof text, fmt, list);
	text[strcspn(text, "\n")] = 0;
	log_debug("%s", text);
}

static int mount_session(struct filesystem *fs, struct err *e)
{
	char options[256], program[] = "farblock", flag[] = "-o";
	char *argv[] = { program, flag, options, NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);

	snprintf(options, sizeof options, "fsname=%s,subtype=farblock,max_read=%u", fs->config.name,
		 BUF_MAX);
	fuse_set_log_func(on_log);
	fs->session = fuse_session_new(&args, &ops, sizeof ops, fs);
	fuse_opt_free_args(&args);
	if (!fs->session)
		return err_set(e, -ENOMEM, "fuse: cannot make a session");
	if (fuse_session_mount(fs->session, fs->config.place))
		return err_set(e, -EIO, "fuse: %s: cannot mount", fs->config.place);
	int fd = fuse_session_fd(fs->session), flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_errno(e, -errno, "fuse: %s", fs->config.place);
	return 0;
}

int filesystem_new(struct filesystem **ret, struct disk *d, const struct filesystem_config *config,
		   struct err *e)
{
	struct filesystem *fs = calloc(1, sizeof *fs);
	struct call c = { .fs = fs, .e = e };

	*ret = NULL;
	if (!fs)
		return err_errno(e, -ENOMEM, "fuse");
	*fs = (struct filesystem){
		.config = *config,
		.disk = d,
		.worker = disk_worker(d),
		.watch = {has_events, -1},
		.since = time(NULL),
	};
	int r = mount_session(fs, e);
	if (!r) {
		worker_call(fs->worker, run_begin, &c);
		r = c.r;
	}
	if (r < 0) {
		filesystem_free(fs);
		return r;
	}
	*ret = fs;
	return 0;
}

unsigned filesystem_opens(struct filesystem *fs)
{
	struct call c = { .fs = fs };

	worker_call(fs->worker, run_opens, &c);
	return c.opens;
}

void filesystem_fail(struct filesystem *fs)
{
	worker_call(fs->worker, run_fail, fs);
}

void filesystem_is_stopping(struct filesystem *fs)
{
	worker_call(fs->worker, run_stopping, fs);
}

void filesystem_free(struct filesystem *fs)
{
	if (!fs)
		return;
	worker_call(fs->worker, run_end, fs);
	if (fs->session) {
		fuse_session_unmount(fs->session);
		fuse_session_destroy(fs->session);
	}
	free(fs->buf.mem);
	free(fs);
}
