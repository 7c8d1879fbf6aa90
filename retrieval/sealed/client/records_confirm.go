package client

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

func confirmHash(hash, expected wire.Hash, unconfirmed bool) error {
	switch {
	case unconfirmed && expected != wire.Hash{}:
		return fmt.Errorf("client: %w: UnconfirmedEpoch, and a hash that confirms one", ErrEpoch)
	case unconfirmed:
	case expected == wire.Hash{}:
		return fmt.Errorf("client: %w: give the hash of the manifest from a second path, or say UnconfirmedEpoch", ErrEpoch)
	case expected != hash:
		return fmt.Errorf("client: %w: the manifest does not have the hash expected", ErrEpoch)
	}
	return nil
}
