package client

import (
	"fmt"
)

// Remembered tells whether Ask would send for a record what the memory holds, and so
// spend nothing. It neither spends nor keeps anything. Errors are ErrRecord, ErrMemory
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
	return kept != nil, err
}
