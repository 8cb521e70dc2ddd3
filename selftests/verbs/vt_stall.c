// SPDX-License-Identifier: GPL-2.0
/*
 * Memory whose pages never come: of a FUSE file whose server has stopped
 * answering, or with a handler of userfaultfd that does not resolve faults.
 *
 *	vt_stall fuse|uffd read|dereg|advise|many
 *
 * A server is made that outlives this process; its number is the first line of
 * output. A queue pair, connected to another one of this process, wants to send
 * what is in that memory; "stuck" is printed when the server has been asked for
 * the page. Then this process
 *
 *	read	does nothing until it is killed
 *	dereg	deregisters the region, prints "deregistered", destroys all, and
 *		ends
 *	advise	asks for the next page by advice and waits for that, until it is
 *		killed or the link goes; prints what it came to
 *	many	does the same with more queue pairs, a page each, in two
 *		contexts; prints how many pages the server has been asked for
 *
 * Exit status 4: this kernel has no such memory. Needs HROCE_DEV.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/fuse.h>
#include <linux/userfaultfd.h>

#include "vt.h"

#define PAGE	4096ul
#define LEN	(32 * PAGE)

/**
 * struct stall - memory that does not come
 * @fd: by which the server is asked
 * @buf: memory, LEN bytes
 */
struct stall {
	int fd;
	unsigned char *buf;
};

/* The server of a mount that is one regular file. */
static size_t fuse_answer(const struct fuse_in_header *in, void *out)
{
	struct fuse_attr_out *attr = out;
	struct fuse_init_out *init = out;

	switch (in->opcode) {
	case FUSE_INIT:
		init->major = FUSE_KERNEL_VERSION;
		init->minor = FUSE_KERNEL_MINOR_VERSION;
		init->max_write = PAGE;
		return sizeof(*init);
	case FUSE_GETATTR:
		attr->attr_valid = 3600;
		attr->attr.ino = 1;
		attr->attr.nlink = 1;
		attr->attr.size = LEN;
		attr->attr.blksize = PAGE;
		attr->attr.mode = S_IFREG | 0600;
		return sizeof(*attr);
	case FUSE_OPEN:
		return sizeof(struct fuse_open_out);
	}
	return 0;
}

static void fuse_serve(int fd, int asked)
{
	static union {
		struct fuse_in_header in;
		char bytes[FUSE_MIN_READ_BUFFER + PAGE];
	} req;
	struct {
		struct fuse_out_header head;
		char bytes[256];
	} answer;

	while (read(fd, &req, sizeof(req)) > 0) {
		memset(&answer, 0, sizeof(answer));
		if (req.in.opcode == FUSE_READ) {
			/* Taken, and never answered. */
			if (write(asked, "", 1) != 1)
				_exit(1);
			continue;
		}
		if (req.in.opcode == FUSE_INTERRUPT)
			continue;
		answer.head.unique = req.in.unique;
		answer.head.len = sizeof(answer.head) +
				  fuse_answer(&req.in, answer.bytes);
		if (answer.head.len == sizeof(answer.head) &&
		    req.in.opcode != FUSE_RELEASE &&
		    req.in.opcode != FUSE_FLUSH)
			answer.head.error = -ENOSYS;
		if (write(fd, &answer, answer.head.len) < 0 && errno != ENOENT)
			_exit(1);
	}
	_exit(0);
}

static void uffd_serve(int fd, int asked)
{
	struct uffd_msg msg;

	while (read(fd, &msg, sizeof(msg)) == sizeof(msg))
		if (msg.event == UFFD_EVENT_PAGEFAULT &&
		    write(asked, "", 1) != 1)
			_exit(1);
	_exit(0);
}

/* Return: end of a pipe that a byte comes from whenever a page is wanted. */
static int serve(void (*server)(int fd, int asked), int fd)
{
	int asked[2];
	pid_t pid;

	VT_EQ(pipe(asked), 0);
	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid) {
		setsid();
		signal(SIGPIPE, SIG_IGN);
		/* Whoever reads the output is not to wait for the server. */
		dup2(open("/dev/null", O_WRONLY), 1);
		dup2(1, 2);
		server(fd, asked[1]);
	}
	printf("server %d\n", pid);
	fflush(stdout);
	close(asked[1]);
	return asked[0];
}

static void stall_skip(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(4);
}

/* Return: see serve(). */
static int stall_fuse(struct stall *s)
{
	char at[] = "/tmp/vt_stall-XXXXXX", options[128];
	int asked, file = mkstemp(at);
	struct stat st;

	VT_OK(file >= 0, "%s", strerror(errno));
	close(file);
	s->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (s->fd < 0)
		stall_skip("/dev/fuse");
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=%o,user_id=0,group_id=0", s->fd,
		 S_IFREG | 0600);
	if (mount("vt_stall", at, "fuse", 0, options))
		stall_skip("mount");
	asked = serve(fuse_serve, s->fd);
	/* The connection ends with the server. */
	close(s->fd);
	file = open(at, O_RDONLY);
	VT_OK(file >= 0, "%s", strerror(errno));
	/* The kernel asks for the length by that, and not before. */
	VT_EQ(fstat(file, &st), 0);
	VT_EQ(st.st_size, LEN);
	s->buf = mmap(NULL, LEN, PROT_READ, MAP_PRIVATE, file, 0);
	VT_OK(s->buf != MAP_FAILED, "%s", strerror(errno));
	VT_EQ(madvise(s->buf, LEN, MADV_RANDOM), 0);
	close(file);
	VT_EQ(umount2(at, MNT_DETACH), 0);
	unlink(at);
	return asked;
}

static int stall_uffd(struct stall *s)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range.len = LEN, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int asked;

	s->buf = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	VT_OK(s->buf != MAP_FAILED, "%s", strerror(errno));
	s->fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (s->fd < 0 || ioctl(s->fd, UFFDIO_API, &api))
		stall_skip("userfaultfd");
	reg.range.start = (uintptr_t)s->buf;
	VT_EQ(ioctl(s->fd, UFFDIO_REGISTER, &reg), 0);
	asked = serve(uffd_serve, s->fd);
	close(s->fd);
	return asked;
}

static void wait_asked(int asked)
{
	char c;

	VT_EQ(read(asked, &c, 1), 1);
	printf("stuck\n");
	fflush(stdout);
}

static void advise(struct vt_end *e, struct ibv_mr *mr, unsigned char *at)
{
	struct ibv_sge sge = { .addr = (uintptr_t)at, .length = PAGE,
			       .lkey = mr->lkey };
	int err = ibv_advise_mr(e->pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
				IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);

	printf("advice: %s\n", strerror(err));
	fflush(stdout);
}

static struct vt_mem reg(struct vt_end *e, unsigned char *buf)
{
	struct vt_mem m = { .buf = buf, .len = LEN };

	m.mr = ibv_reg_mr(e->pd, buf, LEN, IBV_ACCESS_ON_DEMAND);
	VT_OK(m.mr, "%s", strerror(errno));
	return m;
}

static void many(struct vt *t, const struct vt_mem *odp, int asked)
{
	struct pollfd pfd = { .fd = asked, .events = POLLIN };
	struct vt_mem odp_b;
	int nr = 1;
	pid_t pid;

	/* The second context has been used by a process that has ended. */
	pid = fork();
	if (!pid) {
		reg(&t->b, odp->buf);
		_exit(0);
	}
	VT_EQ(waitpid(pid, NULL, 0), pid);
	odp_b = reg(&t->b, odp->buf);

	for (unsigned int i = 1; i < LEN / PAGE; i++)
		vt_send(vt_pair(t, NULL)->qp[i % 2], &(struct vt_wr){
			.op = IBV_WR_SEND, .local = i % 2 ? &odp_b : odp,
			.off = i * PAGE, .len = 100 });
	while (poll(&pfd, 1, 2000) == 1) {
		char c;

		VT_EQ(read(asked, &c, 1), 1);
		nr++;
	}
	printf("asked for %d pages\n", nr);
	fflush(stdout);
}

static int run(const char *kind, const char *act)
{
	struct stall s = {};
	struct vt_mem odp;
	struct vt_pair *p;
	struct vt t = {};
	int asked;

	asked = !strcmp(kind, "fuse") ? stall_fuse(&s) : stall_uffd(&s);
	vt_open(&t.a, vt_dev_name(0), 4);
	vt_open(&t.b, vt_dev_name(0), 4);
	odp = reg(&t.a, s.buf);
	p = vt_pair(&t, NULL);
	vt_send(p->qp[0], &(struct vt_wr){ .op = IBV_WR_SEND, .local = &odp,
		.len = 100 });
	wait_asked(asked);
	if (!strcmp(act, "advise")) {
		advise(&t.a, odp.mr, s.buf + 8 * PAGE);
		pause();
	} else if (!strcmp(act, "dereg")) {
		VT_EQ(ibv_dereg_mr(odp.mr), 0);
		printf("deregistered\n");
		fflush(stdout);
	} else {
		if (!strcmp(act, "many"))
			many(&t, &odp, asked);
		pause();
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: vt_stall fuse|uffd read|dereg|advise|many\n");
		return 2;
	}
	return run(argv[1], argv[2]);
}
