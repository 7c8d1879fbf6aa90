//go:build mpi && cgo

package cluster

/*
#if defined(__has_include)
#if !__has_include(<mpi.h>)
#error "the build tag mpi needs the compiler of an MPI: CC=mpicc go build -tags mpi"
#endif
#endif

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <sched.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

// pm_init starts MPI. Errors are returned, also those of communicators made from this one.
static int pm_init(int *level) {
#ifdef __linux__
	prctl(PR_SET_TIMERSLACK, 2000UL); // of this thread: pm_test sleeps for microseconds
#endif
	int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, level);
	return code != MPI_SUCCESS ? code : MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static int pm_dup(MPI_Comm *comm) { return MPI_Comm_dup(MPI_COMM_WORLD, comm); }

// pm_neighbours counts the ranks that share the memory of this machine.
static int pm_neighbours(MPI_Comm all, int *count) {
	MPI_Comm near;
	int code = MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
	if (code == MPI_SUCCESS) code = MPI_Comm_size(near, count);
	return code != MPI_SUCCESS ? code : MPI_Comm_free(&near);
}

static int pm_gather(void *data, const int *counts, const int *starts, MPI_Comm comm, MPI_Request *request) {
	return MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts, starts, MPI_BYTE, comm, request);
}

static int pm_broadcast(void *data, int count, int from, MPI_Comm comm, MPI_Request *request) {
	return MPI_Ibcast(data, count, MPI_BYTE, from, comm, request);
}

static int pm_send(const void *data, int count, int to, MPI_Comm comm, MPI_Request *request) {
	return MPI_Isend(data, count, MPI_BYTE, to, 0, comm, request);
}

static int pm_receive(void *data, int count, int from, MPI_Comm comm, MPI_Request *request) {
	return MPI_Irecv(data, count, MPI_BYTE, from, 0, comm, request);
}

static int pm_received(const MPI_Status *status, int *count) {
	return MPI_Get_count(status, MPI_BYTE, count);
}

static long pm_since(const struct timespec *from) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - from->tv_sec) * 1000000L + (now.tv_nsec - from->tv_nsec) / 1000;
}

// pm_test waits at most limit microseconds for all requests, which began age microseconds
// ago and are expected to take expected microseconds. First it polls and lets others run in
// between, since most requests end at once. While bytes may be on their way it sleeps for
// short times, since libraries send pieces when they are polled. Then it sleeps longer and
// longer, since another rank computes.
static int pm_test(MPI_Request *requests, int count, MPI_Status *statuses, long age, long expected, long limit, int *done) {
	struct timespec from;
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (;;) {
		int code = MPI_Testall(count, requests, done, statuses);
		if (code != MPI_SUCCESS || *done || limit <= 0) return code;
		long passed = pm_since(&from);
		if (passed >= limit) return MPI_SUCCESS;
		long late = age + passed - expected;
		if (age + passed < 60) {
			sched_yield();
			continue;
		}
		long sleep = late < 200 ? 5 : late > 4000 ? 100 : late / 40;
		struct timespec pause = {0, sleep * 1000};
		nanosleep(&pause, NULL);
	}
}

// pm_cause looks for the request that has failed.
static int pm_cause(int code, const MPI_Status *statuses, int count) {
	int kind;
	if (MPI_Error_class(code, &kind) != MPI_SUCCESS || kind != MPI_ERR_IN_STATUS) return code;
	for (int i = 0; i < count; i++) {
		int one = statuses[i].MPI_ERROR;
		if (one != MPI_SUCCESS && one != MPI_ERR_PENDING) return one;
	}
	return code;
}

static void pm_abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"
)

// Only the thread that has called startMPI calls the following functions.

// A communicator keeps its messages separate from those of others.
type communicator struct {
	comm       C.MPI_Comm
	rank, size int
}

// failure turns the code that a function of MPI has returned into an error.
func failure(what string, code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	var text [C.MPI_MAX_ERROR_STRING]C.char
	var n C.int
	if C.MPI_Error_string(code, &text[0], &n) != C.MPI_SUCCESS {
		return fmt.Errorf("cluster: %s: MPI error %d", what, int(code))
	}
	return fmt.Errorf("cluster: %s: %s", what, C.GoStringN(&text[0], n))
}

// startMPI starts MPI on this thread.
func startMPI() error {
	var level C.int
	if err := failure("starting MPI", C.pm_init(&level)); err != nil {
		return err
	}
	if level < C.MPI_THREAD_FUNNELED {
		C.MPI_Finalize()
		return errors.New("cluster: this MPI does not allow programs with threads (MPI_THREAD_FUNNELED)")
	}
	return nil
}

// stopMPI is the last call of every rank.
func stopMPI() error { return failure("ending MPI", C.MPI_Finalize()) }

// abortMPI ends the processes of all ranks.
func abortMPI(code int) { C.pm_abort(C.int(code)) }

// newCommunicator returns a communicator of all processes. All ranks call it.
func newCommunicator() (*communicator, error) {
	c := &communicator{}
	var rank, size C.int
	code := C.pm_dup(&c.comm)
	if code == C.MPI_SUCCESS {
		code = C.MPI_Comm_rank(c.comm, &rank)
	}
	if code == C.MPI_SUCCESS {
		code = C.MPI_Comm_size(c.comm, &size)
	}
	c.rank, c.size = int(rank), int(size)
	return c, failure("connecting the ranks", code)
}

// neighbours returns how many ranks run on this machine. All ranks call it.
func (c *communicator) neighbours() (int, error) {
	var count C.int
	code := C.pm_neighbours(c.comm, &count)
	return int(count), failure("counting the ranks of this machine", code)
}

// A transfer is the work of MPI on the memory of one call. The memory does not move until
// the transfer is done.
type transfer struct {
	what     string
	requests []C.MPI_Request
	expected []int // bytes that the request receives, -1 where MPI counts them itself
	statuses []C.MPI_Status
	bytes    int
	began    time.Time
	pins     runtime.Pinner
	done     chan struct{} // closed at the end
	err      error         // set before
}

func newTransfer(what string) *transfer {
	return &transfer{what: what, began: time.Now(), done: make(chan struct{})}
}

// add begins a request on data, which is pinned.
func (t *transfer) add(data []byte, expected int, begin func(p unsafe.Pointer, request *C.MPI_Request) C.int) error {
	p := unsafe.Pointer(unsafe.SliceData(data))
	if len(data) > 0 {
		t.pins.Pin(p)
	}
	request := new(C.MPI_Request)
	if err := failure(t.what, begin(p, request)); err != nil {
		return err
	}
	t.bytes += len(data)
	t.requests, t.expected = append(t.requests, *request), append(t.expected, expected)
	return nil
}

func (t *transfer) send(c *communicator, data []byte, to int) error {
	return t.add(data, -1, func(p unsafe.Pointer, request *C.MPI_Request) C.int {
		return C.pm_send(p, C.int(len(data)), C.int(to), c.comm, request)
	})
}

func (t *transfer) receive(c *communicator, data []byte, from int) error {
	return t.add(data, len(data), func(p unsafe.Pointer, request *C.MPI_Request) C.int {
		return C.pm_receive(p, C.int(len(data)), C.int(from), c.comm, request)
	})
}

func (t *transfer) broadcast(c *communicator, data []byte, from int) error {
	return t.add(data, -1, func(p unsafe.Pointer, request *C.MPI_Request) C.int {
		return C.pm_broadcast(p, C.int(len(data)), C.int(from), c.comm, request)
	})
}

// gather gives every rank the bytes bounds[r] to bounds[r+1]-1 of each rank r.
func (t *transfer) gather(c *communicator, data []byte, bounds []int) error {
	// MPI reads these until the end, so they are pinned too.
	counts, starts := make([]C.int, c.size), make([]C.int, c.size)
	for r := range c.size {
		counts[r], starts[r] = C.int(bounds[r+1]-bounds[r]), C.int(bounds[r]-bounds[0])
	}
	t.pins.Pin(&counts[0])
	t.pins.Pin(&starts[0])
	return t.add(data[bounds[0]:bounds[c.size]], -1, func(p unsafe.Pointer, request *C.MPI_Request) C.int {
		return C.pm_gather(p, &counts[0], &starts[0], c.comm, request)
	})
}

// bytesPerMicrosecond is the rate of the slower networks of clusters.
const bytesPerMicrosecond = 1000

// test waits at most limit for the end of the transfer, and reports whether it has ended, with
// or without an error.
func (t *transfer) test(limit time.Duration) (ended bool) {
	if len(t.requests) == 0 {
		return true
	}
	if t.statuses == nil {
		t.statuses = make([]C.MPI_Status, len(t.requests))
	}
	var done C.int
	code := C.pm_test(&t.requests[0], C.int(len(t.requests)), &t.statuses[0],
		C.long(time.Since(t.began).Microseconds()), C.long(t.bytes/bytesPerMicrosecond), C.long(limit.Microseconds()), &done)
	if code != C.MPI_SUCCESS {
		t.err = failure(t.what, C.pm_cause(code, &t.statuses[0], C.int(len(t.statuses))))
		return true
	}
	if done == 0 {
		return false
	}
	for i, want := range t.expected {
		var got C.int
		if C.pm_received(&t.statuses[i], &got); want >= 0 && int(got) != want {
			t.err = fmt.Errorf("cluster: %s: %w: %d bytes came where %d were expected", t.what, errMismatch, int(got), want)
		}
	}
	return true
}
