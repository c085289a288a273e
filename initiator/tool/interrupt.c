// SPDX-License-Identifier: BSD-2-Clause
// farblock-initiator and Ctrl-C: the first SIGINT or SIGTERM ends the command in order, the second
// one at once. A separate thread waits for them, since all others block them: it can take locks,
// and wakes the program's thread from a blocking read or write.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "initiator/tool/tool.h"

#define WAKE	SIGUSR1
#define WAKE_NS 20000000l // repeatedly: the thread may be about to block

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct scsi_sync *sync_of, *also_of; // the sessions to cancel; under the lock
static pthread_t program;
static int interrupted_by; // atomic

static void woken(int signal)
{
}

static void handle(int flags)
{
	const struct sigaction wake = { .sa_handler = woken, .sa_flags = flags };
	sigaction(WAKE, &wake, NULL);
}

static void die(int number)
{
	sigset_t set;
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}

static void cancel(int number)
{
	pthread_mutex_lock(&lock);
	if (!sync_of) { // before the login, or after the logout
		static const char text[] = "farblock-initiator: interrupted; not logged in\n";
		if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
			errno = 0;
		die(number);
	}
	__atomic_store_n(&interrupted_by, number, __ATOMIC_RELEASE);
	scsi_sync_cancel(sync_of);
	if (also_of)
		scsi_sync_cancel(also_of);
	pthread_mutex_unlock(&lock);
}

static void *wait_for_signals(void *set)
{
	static const struct timespec wake = { .tv_nsec = WAKE_NS };
	int number;
	if (sigwait(set, &number))
		return NULL;
	cancel(number);
	for (;;) {
		pthread_kill(program, WAKE);
		int again = sigtimedwait(set, NULL, &wake);
		if (again > 0)
			_exit(128 + again);
	}
}

static void start(void)
{
	static sigset_t set;
	pthread_t thread;
	program = pthread_self();
	handle(SA_RESTART);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&thread, NULL, wait_for_signals, &set))
		pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	else
		pthread_detach(thread);
}

void tool_interrupt_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start);
}

void tool_interrupt_set(struct scsi_sync *y)
{
	pthread_mutex_lock(&lock);
	sync_of = y;
	pthread_mutex_unlock(&lock);
}

void tool_interrupt_also(struct scsi_sync *y)
{
	pthread_mutex_lock(&lock);
	also_of = y;
	pthread_mutex_unlock(&lock);
}

void tool_interrupt_data(void)
{
	handle(0);
}

void tool_interrupt_over(void)
{
	sigset_t set;
	if (!tool_interrupted() || !pthread_equal(pthread_self(), program))
		return;
	sigemptyset(&set);
	sigaddset(&set, WAKE);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int tool_interrupted(void)
{
	int number = __atomic_load_n(&interrupted_by, __ATOMIC_ACQUIRE);
	return number ? 128 + number : 0;
}
