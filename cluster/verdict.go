package cluster

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// An outcome says how a rank has ended, and is sent to the others.
type outcome struct {
	failed  bool
	pending bool // a call was abandoned, so MPI may still write
	code    int
	text    string
}

// outcomeBytes is the size of an outcome as sent; longer texts are cut.
const outcomeBytes = 2048

// put writes the outcome into the block of its rank.
func (o outcome) put(block []byte) {
	clear(block)
	block[0], block[1] = flag(o.failed), flag(o.pending)
	binary.LittleEndian.PutUint32(block[2:], uint32(o.code))
	n := copy(block[8:outcomeBytes], strings.ToValidUTF8(o.text[:min(len(o.text), outcomeBytes-8)], ""))
	binary.LittleEndian.PutUint16(block[6:], uint16(n))
}

// readOutcome reads what put wrote.
func readOutcome(block []byte) outcome {
	n := min(int(binary.LittleEndian.Uint16(block[6:])), outcomeBytes-8)
	return outcome{
		failed: block[0] != 0, pending: block[1] != 0,
		code: int(int32(binary.LittleEndian.Uint32(block[2:]))),
		text: string(block[8 : 8+n]),
	}
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// verdict returns the lines that say why a run has failed, with the ranks in front unless all
// lines are the same, and the code of the first rank that has failed.
func verdict(outcomes []outcome) (lines string, code int) {
	var b strings.Builder
	said := map[string]bool{}
	first := ""
	for rank, o := range outcomes {
		if !o.failed {
			continue
		}
		if code == 0 {
			first, code = o.text, o.code
		}
		if o.text != "" && !said[o.text] {
			said[o.text] = true
			fmt.Fprintf(&b, "rank %d: %s\n", rank, o.text)
		}
	}
	for _, o := range outcomes {
		if !o.failed || o.text != first {
			return b.String(), code
		}
	}
	if first == "" {
		return "", code
	}
	return first + "\n", code
}
