package client

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// Remembered tells whether Ask would send for a record what the memory holds, and so
// spend nothing: a set that was sent before, or a pending one that is paid for. It neither spends nor keeps anything. Errors are ErrRecord, ErrMemory
// and those of mechanism.PayerID.
func (c *Cells) Remembered(name string) (bool, error) {
	if name == "" {
		return false, fmt.Errorf("client: %w: it has no name", ErrRecord)
	}
	key, err := c.key(c.payer(name), name)
	if err != nil {
		return false, err
	}
	kept, err := c.settings.Memory.Recall(key)
	if kept != nil || err != nil {
		return kept != nil, err
	}
	pending, err := c.settings.Memory.Recall(pendingKey(key))
	if pending == nil || err != nil {
		return false, err
	}
	id, _, err := c.open(pending)
	if err != nil {
		return false, err
	}
	paid, err := mechanism.Paid(c.settings.Ledger, id)
	if err != nil {
		return false, fmt.Errorf("client: %w", err)
	}
	return paid, nil
}
