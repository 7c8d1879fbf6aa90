package scheme_test

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// What it takes to fetch a record without disclosing which. The last number bounds the chance
// that it is wrong.
func ExampleRecordFailure() {
	fmt.Println("records   bytes  a column  hint, once  up       down      a pass   wrong")
	for _, c := range []struct{ records, bytes, perColumn int }{
		{100_000, 512, 1},
		{500_000, 4096, 1},
		{1_000_000, 4096, 2},
		{10_000_000, 512, 20},
	} {
		m := wire.SealedRecords{Records: c.records, Length: c.bytes + scheme.RecordPrefix, PerColumn: c.perColumn}
		rows, columns := m.MatrixRows(), m.Columns()
		fmt.Printf("%-9d %-6d %-9d %5.1f MB    %4.2f MB  %4.1f KB  %5.2f GB %7.0e\n", c.records, c.bytes, c.perColumn,
			4*scheme.SecretWords*float64(rows)/1e6, 4*float64(columns)/1e6, 4*float64(rows)/1e3, float64(rows)*float64(columns)/1e9,
			scheme.RecordFailure(columns, m.Length))
	}
	// Output:
	// records   bytes  a column  hint, once  up       down      a pass   wrong
	// 100000    512    1           2.9 MB    0.40 MB   2.1 KB   0.05 GB  6e-225
	// 500000    4096   1          23.1 MB    2.00 MB  16.4 KB   2.05 GB   3e-42
	// 1000000   4096   2          46.2 MB    2.00 MB  32.8 KB   4.10 GB   3e-42
	// 10000000  512    20         57.9 MB    2.00 MB  41.1 KB   5.14 GB   4e-43
}
