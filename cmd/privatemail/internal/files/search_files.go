package files

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/formats"
)

// WriteAnswerFiles writes the numbers of k rows for each of n queries, and their distances,
// each where it has a file.
func WriteAnswerFiles(ctx context.Context, out, distancesOut string, n, k int, ids []int32, distances []float32) error {
	if out != "" {
		if err := writeAnswers(ctx, out, n, k, ids); err != nil {
			return err
		}
	}
	if distancesOut == "" {
		return nil
	}
	err := writeAnswers(ctx, distancesOut, n, k, distances)
	if err != nil && out != "" {
		return fmt.Errorf("%w (the rows are in %s already)", err, out)
	}
	return err
}

// writeAnswers writes a table of answers, as text where the name ends in .csv.
func writeAnswers[T int32 | float32](ctx context.Context, path string, rows, cols int, data []T) error {
	if !strings.HasSuffix(strings.ToLower(path), ".csv") {
		err := formats.WriteMatrix(ctx, path, rows, cols, data)
		if errors.Is(err, formats.ErrUnsupported) && strings.Contains(err.Error(), "can be written: ") {
			return fmt.Errorf("%w, .csv", err) // the one that is written here
		}
		return err
	}
	return writeAnswerText(ctx, path, rows, cols, data)
}

// writeAnswerText writes a line for each query under a line with the names of the
// columns. A .csv file has them by rank, beginning with nearest_1.
func writeAnswerText[T int32 | float32](ctx context.Context, path string, rows, cols int, data []T) error {
	return formats.WriteFile(ctx, path, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		for j := range cols {
			fmt.Fprintf(b, "%snearest_%d", comma(j), j+1)
		}
		b.WriteByte('\n') // a failure shows at the next Write or Flush
		var line []byte
		for i := range rows {
			line = line[:0]
			for j, v := range data[i*cols : (i+1)*cols] {
				line = append(line, comma(j)...)
				line = appendAnswer(line, v)
			}
			if _, err := b.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return b.Flush()
	})
}

// comma stands before every column but the first.
func comma(column int) string {
	if column == 0 {
		return ""
	}
	return ","
}

func appendAnswer[T int32 | float32](line []byte, v T) []byte {
	switch v := any(v).(type) {
	case int32:
		return strconv.AppendInt(line, int64(v), 10)
	case float32:
		return strconv.AppendFloat(line, float64(v), 'g', -1, 32)
	}
	return line
}
