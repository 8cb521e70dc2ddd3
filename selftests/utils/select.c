// SPDX-License-Identifier: GPL-2.0
/*
 * select() by means of poll(), to be preloaded before librspreload. The latter
 * translates descriptors to those of rsockets and back, and until rdma-core 63
 * its select() may name the rsocket's own where the program knows another.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/select.h>

static int milliseconds(const struct timeval *tv)
{
	/* Rounded up: who has half a millisecond left need not ask twice. */
	return tv ? tv->tv_sec * 1000 + (tv->tv_usec + 999) / 1000 : -1;
}

/* Move what is asked for from the sets to @fds, and leave the sets empty. */
static int take_wanted(int nfds, fd_set *sets[2], struct pollfd *fds)
{
	static const short wanted[2] = { POLLIN, POLLOUT };
	int nr = 0;

	for (int fd = 0; fd < nfds; fd++) {
		short events = 0;

		for (int i = 0; i < 2; i++) {
			if (!sets[i] || !FD_ISSET(fd, sets[i]))
				continue;
			FD_CLR(fd, sets[i]);
			events |= wanted[i];
		}
		if (events)
			fds[nr++] = (struct pollfd){ fd, events, 0 };
	}
	return nr;
}

int select(int nfds, fd_set *readfds, fd_set *writefds, fd_set *exceptfds,
	   struct timeval *timeout)
{
	fd_set *sets[2] = { readfds, writefds };
	struct pollfd fds[FD_SETSIZE];
	int nr, found = 0;

	if (nfds < 0 || nfds > FD_SETSIZE) {
		errno = EINVAL;
		return -1;
	}
	nr = take_wanted(nfds, sets, fds);
	if (exceptfds)
		FD_ZERO(exceptfds);
	if (poll(fds, nr, milliseconds(timeout)) < 0)
		return -1;
	for (int i = 0; i < nr; i++) {
		short got = fds[i].revents;

		if (fds[i].events & POLLIN && got & (POLLIN | POLLHUP | POLLERR)) {
			FD_SET(fds[i].fd, readfds);
			found++;
		}
		if (fds[i].events & POLLOUT && got & (POLLOUT | POLLERR)) {
			FD_SET(fds[i].fd, writefds);
			found++;
		}
	}
	return found;
}
