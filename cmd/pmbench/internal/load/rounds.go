package load

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// waitForRounds is the side of the clients in suite retrieval, a child as peers are: a line
// of standard input holds a number of clients and one of queries, and the answer is a line
// of JSON with the seconds of each query.
func waitForRounds(ctx context.Context, e *cli.Env, target *loadTarget) error {
	if err := e.Object(struct{ Version string }{"pmbench load"}); err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var clients, queries int
		if _, err := fmt.Sscan(lines.Text(), &clients, &queries); err != nil || clients < 1 || queries < 1 {
			return fmt.Errorf("a line that does not hold two numbers")
		}
		seconds, err := askAll(ctx, target.ask, clients, queries)
		if err != nil {
			return err
		}
		if err := e.Object(struct{ Seconds []float64 }{seconds}); err != nil {
			return err
		}
	}
	return nil
}
