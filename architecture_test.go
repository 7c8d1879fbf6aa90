//go:build amd64 && !amd64.v3

package privatemail

import "testing"

// A build for all processors rounds products and sums separately; other builds report that
// they do not.
func TestArchitecture(t *testing.T) {
	if got := architecture(); got != "amd64" {
		t.Errorf("architecture %q", got)
	}
}
