package wire

import "github.com/seed-64e14a55/privatemail/retrieval/sealed"

// Lengths of the binary forms of mode sealed. They follow from the manifest alone: a server
// limits bodies by them, and a client what it reads. They mean nothing for a manifest that
// Check refuses.

// sealedBytes returns the length of a frame with an epoch, that many whole numbers, and other
// bytes.
func sealedBytes(numbers, rest int64) int64 {
	return int64(headSize+crcPairSize+len(Hash{})) + 8*numbers + rest
}

// RequestBytes returns the length of a SealedRequest of the epoch.
func (m *SealedManifest) RequestBytes() int64 {
	return sealedBytes(4, 3*int64(m.Probes)*int64(m.Columns()))
}

// AnswerBytes returns the length of a SealedAnswer of the epoch.
func (m *SealedManifest) AnswerBytes() int64 {
	return sealedBytes(4, 4*int64(m.Probes)*int64(m.Length))
}

// HintBytes returns the length of a SealedHint of the epoch at its start. A later one has 6
// bytes more for each slot that has changed.
func (m *SealedManifest) HintBytes() int64 { return hintBytes(m.Length) }

// MaxHintBytes returns the length of a SealedHint after a change of every slot.
func (m *SealedManifest) MaxHintBytes() int64 { return m.HintBytes() + (4+2)*int64(m.Slots()) }

func hintBytes(rows int) int64 { return sealedBytes(5, 4*sealed.SecretWords*int64(rows)) }

// IDsBytes returns the length of the SealedIDs of the epoch.
func (m *SealedManifest) IDsBytes() int64 { return sealedBytes(2, 4*int64(m.Slots())) }

// MaxChangesBytes returns the length of SealedChanges with every row of the hint and every
// slot.
func (m *SealedManifest) MaxChangesBytes() int64 {
	return sealedBytes(7, 4*(sealed.SecretWords+1)*int64(m.Length)+(4+2+4)*int64(m.Slots()))
}

// RequestBytes returns the length of a SealedRequest for that many records.
func (r *SealedRecords) RequestBytes(records int) int64 {
	return sealedBytes(4, 4*int64(records)*int64(r.Columns()))
}

// AnswerBytes returns the length of a SealedAnswer with that many records.
func (r *SealedRecords) AnswerBytes(records int) int64 {
	return sealedBytes(4, 4*int64(records)*int64(r.MatrixRows()))
}

// HintBytes returns the length of the SealedHint of the records.
func (r *SealedRecords) HintBytes() int64 { return hintBytes(r.MatrixRows()) }
