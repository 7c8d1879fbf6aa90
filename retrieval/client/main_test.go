package client

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	beKilledChild()
	beClientChild()
	goleak.VerifyTestMain(m)
}
