package main

import (
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/simd"
)

// level names the instructions the engine's inner loops are made of.
func level() string { return simd.Best().String() }

// setting names the level of a machine, its choices and where these come from.
func (m *Machine) setting() string { return cli.SettingWords(m.Level, m.Choices, m.ChoicesFrom) }

// settingOf names the level of a measurement, with the choices of its machine where the
// recording has them.
func settingOf(level string, m *Machine) string {
	if m == nil || m.Level != level {
		return level
	}
	return m.setting()
}
