//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"unsafe"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/sensitivity"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// Errors of this package, in addition to errHandle and errOverlap.
var (
	errArgument = errors.New("wrong argument")
	errBusy     = errors.New("the pm_call is in use by another function")
	errSize     = errors.New("the buffer is too small")

	errReentrant = errors.New("called by a progress function of the same engine, which would wait for itself")
)

// guard runs the work of an exported function. It turns an error into a status and keeps
// its text for pm_last_error of the calling thread, on which it runs. It also catches
// panics, which would end the process if they reached C.
func guard(name string, do func() error) C.pm_status {
	err := prepare()
	if err == nil {
		err = caught(do)
	}
	if err == nil {
		return C.PM_OK
	}
	text := name + ": " + strings.ReplaceAll(err.Error(), "\x00", "")
	C.pmc_set_error((*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
	return C.pm_status(statusOf(err))
}

// caught returns a panic of do as an error.
func caught(do func() error) (err error) {
	defer par.Catch(&err)
	return do()
}

// statuses have the status of each error that the library distinguishes. The first one that
// an error matches counts: an error after a ledger has paid comes first.
var statuses = []struct {
	err    error
	status int
}{
	{mechanism.ErrSpent, C.PM_SPENT},
	{errArgument, C.PM_ARGUMENT},
	{errHandle, C.PM_HANDLE},
	{errBusy, C.PM_BUSY},
	{errSize, C.PM_SIZE},
	{context.Canceled, C.PM_CANCELLED},
	{privatemail.ErrClosed, C.PM_HANDLE}, // the engine was freed meanwhile
	{errReentrant, C.PM_REENTRANT},
	{kernel.ErrMemory, C.PM_MEMORY},
	{mechanism.ErrBudgetExceeded, C.PM_BUDGET},
	{mechanism.ErrLocked, C.PM_BUSY},
	{points.ErrNonFinite, C.PM_NOT_FINITE},
	{sensitivity.ErrNonFinite, C.PM_NOT_FINITE},
	{mechanism.ErrNonFinite, C.PM_NOT_FINITE},
	{points.ErrZeroRow, C.PM_ZERO_ROW},
	{kernel.ErrLabels, C.PM_LABELS},
	{sensitivity.ErrLabels, C.PM_LABELS},
	{mechanism.ErrLabels, C.PM_LABELS},
	{release.ErrLabels, C.PM_LABELS},
	{post.ErrLabelMode, C.PM_LABELS},
	{supervised.ErrNoPairs, C.PM_LABELS},
	{supervised.ErrEqualMeans, C.PM_LABELS},
	{supervised.ErrNoClasses, C.PM_LABELS},
	{kernel.ErrTolerance, C.PM_TOLERANCE},
	{kernel.ErrIsolated, C.PM_TOLERANCE},
	{iterate.ErrDiverged, C.PM_DIVERGED},
	{points.ErrShape, C.PM_SHAPE},
	{kernel.ErrEmpty, C.PM_SHAPE},
	{sparse.ErrAlias, C.PM_SHAPE},
	{errOverlap, C.PM_SHAPE},
	{sparse.ErrShared, C.PM_ARGUMENT},
	{privatemail.ErrCheckpoint, C.PM_ARGUMENT},
	{sensitivity.ErrShape, C.PM_SHAPE},
	{kernel.ErrOption, C.PM_SETTING}, // also privatemail.ErrSettings
	{kernel.ErrBandwidth, C.PM_SETTING},
	{kernel.ErrOperator, C.PM_SETTING},
	{kernel.ErrUnitNorm, C.PM_PRIVACY},
	{mechanism.ErrParam, C.PM_PRIVACY},
	{mechanism.ErrUnknownUnit, C.PM_PRIVACY},
	{mechanism.ErrOtherRelation, C.PM_PRIVACY},
	{mechanism.ErrEntropy, C.PM_SYSTEM},
}

// damaged are errors of files and bytes of the wrong kind or damaged. They come after
// those of the system: a missing file is not damaged.
var damaged = []error{
	mechanism.ErrLedger, release.ErrRelease, post.ErrScale, supervised.ErrFile,
	formats.ErrFormat, formats.ErrUnsupported, formats.ErrLimit,
}

// unproved are errors of releases without a proof of privacy.
var unproved = []error{
	sensitivity.ErrRelation, sensitivity.ErrNoBound, sensitivity.ErrQuery,
}

// statusOf returns the status of an error. An unknown error is a fault of the library.
func statusOf(err error) int {
	for _, s := range statuses {
		if errors.Is(err, s.err) {
			return s.status
		}
	}
	matches := func(some []error) bool {
		for _, e := range some {
			if errors.Is(err, e) {
				return true
			}
		}
		return false
	}
	var path *fs.PathError
	var number syscall.Errno
	switch {
	case errors.As(err, &path), errors.As(err, &number):
		return C.PM_SYSTEM
	case matches(damaged):
		return C.PM_FILE
	case matches(unproved):
		return C.PM_PRIVACY
	}
	return C.PM_INTERNAL
}

// argument returns an error about an argument.
func argument(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errArgument}, args...)...)
}
