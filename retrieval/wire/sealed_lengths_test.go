package wire

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
)

// The lengths that a manifest tells are those of the frames.
func TestLengthsOfSealedFrames(t *testing.T) {
	for _, s := range []struct{ cells, length, dimension, probes int }{{1, 1, 1, 1}, {5, 3, 7, 2}, {8, 11, 64, 8}} {
		m := &SealedManifest{Cells: s.cells, Length: s.length, Dimension: s.dimension, Probes: s.probes}
		r := &SealedRecords{Records: 2*s.cells - 1, PerColumn: 2, Length: s.length}
		changes := &SealedChanges{Words: make([]uint32, s.length*sealed.SecretWords)}
		for i := range s.length {
			changes.Rows = append(changes.Rows, uint32(i))
		}
		for i := range m.Slots() {
			changes.Names, changes.Norms, changes.IDs = append(changes.Names, uint32(i)), append(changes.Norms, EmptySlot), append(changes.IDs, Padding)
		}
		const fetched = 3
		for _, c := range []struct {
			name string
			m    interface{ MarshalBinary() ([]byte, error) }
			says int64
		}{
			{"request", &SealedRequest{Count: s.probes, Columns: m.Columns(), Width: 3, Bytes: make([]byte, 3*s.probes*m.Columns())}, m.RequestBytes()},
			{"answer", &SealedAnswer{Count: s.probes, Rows: s.length, Words: make([]uint32, s.probes*s.length)}, m.AnswerBytes()},
			{"hint", &SealedHint{Rows: s.length, Words: make([]uint32, s.length*sealed.SecretWords)}, m.HintBytes()},
			{"late hint", &SealedHint{Version: 1, Rows: s.length, Words: make([]uint32, s.length*sealed.SecretWords), Names: changes.Names, Norms: changes.Norms}, m.MaxHintBytes()},
			{"ids", &SealedIDs{IDs: make([]uint32, m.Slots())}, m.IDsBytes()},
			{"changes", changes, m.MaxChangesBytes()},
			{"request for records", &SealedRequest{Count: fetched, Columns: r.Columns(), Width: 4, Bytes: make([]byte, 4*fetched*r.Columns())}, r.RequestBytes(fetched)},
			{"answer with records", &SealedAnswer{Count: fetched, Rows: r.MatrixRows(), Words: make([]uint32, fetched*r.MatrixRows())}, r.AnswerBytes(fetched)},
			{"hint of records", &SealedHint{Rows: r.MatrixRows(), Words: make([]uint32, r.MatrixRows()*sealed.SecretWords)}, r.HintBytes()},
		} {
			frame, err := c.m.MarshalBinary()
			if err != nil {
				t.Fatal(c.name, err)
			}
			if int64(len(frame)) != c.says {
				t.Errorf("%+v: a %s has %d bytes, the manifest says %d", s, c.name, len(frame), c.says)
			}
		}
	}
}
