package files

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/par"
)

// WritePoints writes a file of points. Several ranks, which all have the points, write its
// rows together, unless the file is a stream or compressed: then rank 0 writes it.
func WritePoints(ctx context.Context, ranks *par.Ranks, path string, x blas32.General) error {
	alone := func() error { return formats.WriteMatrix(ctx, path, x.Rows, x.Cols, x.Data) }
	if ranks.Alone() {
		return alone()
	}
	var file *formats.SharedFile
	stream := ""
	err := OnFirst(ctx, ranks, func() (err error) {
		if file, err = formats.CreateShared(path, x.Rows, x.Cols); errors.Is(err, formats.ErrUnsupported) {
			stream, err = "yes", nil // WriteMatrix writes it, or says why not
		}
		return err
	})
	if err != nil {
		return errors.Join(err, discard(file))
	}
	if stream, err = fromFirst(ctx, ranks, stream); err != nil {
		return errors.Join(err, discard(file))
	}
	if stream != "" {
		return OnFirst(ctx, ranks, alone)
	}
	if err := writeTogether(ctx, ranks, file, path, x); err != nil {
		return errors.Join(err, discard(file))
	}
	return OnFirst(ctx, ranks, func() error {
		if err := file.Rename(); err != nil {
			return errors.Join(err, discard(file))
		}
		return nil
	})
}

// discard removes the temporary file on the rank that has made it.
func discard(file *formats.SharedFile) error {
	if file == nil {
		return nil
	}
	return file.Remove()
}

// writeTogether lets every rank write its rows to the file that rank 0 has made. It returns
// nil when all rows are on the disk.
func writeTogether(ctx context.Context, ranks *par.Ranks, file *formats.SharedFile, path string, x blas32.General) error {
	temporary := ""
	if file != nil {
		temporary = file.Temporary()
	}
	temporary, err := fromFirst(ctx, ranks, temporary)
	if err != nil {
		return err
	}
	if file == nil {
		file, err = formats.OpenShared(path, temporary, x.Rows, x.Cols)
	}
	if err == nil {
		lo, hi := ranks.Part(x.Rows)
		err = errors.Join(file.WriteRows(ctx, lo, x.Data[lo*x.Cols:hi*x.Cols]), file.Sync())
	}
	return agreeError(ctx, ranks, err)
}
