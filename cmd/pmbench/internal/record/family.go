package record

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Family names the processors that a section of a report is of: the design of the
// processor, or, in recordings that do not hold it, the family that a folder they are in
// is named for. Where that is none either, it is the name for the market, behind the
// name of the folder.
func (m *Machine) Family() string {
	if m.Processor.known() {
		return m.Processor.familyName()
	}
	for _, folder := range slices.Backward(m.folders) {
		if name := familyOfFolder(folder); name != "" {
			return name
		}
	}
	if len(m.folders) > 0 && m.folders[0] != slug(m.CPU) {
		return m.folders[0] + ": " + m.CPU
	}
	return m.CPU
}

// ProcessorWords are the name for the market and what the processor says of itself.
func (m *Machine) ProcessorWords() string {
	if !m.Processor.known() {
		return m.CPU
	}
	return m.CPU + ", " + m.Processor.String()
}

// words are the family and the name for the market.
func (m *Machine) words() string {
	if name := m.Family(); name != m.CPU {
		return name + " (" + m.CPU + ")"
	}
	return m.CPU
}

// RecordedIn notes the folders between the one of a report and a recording in it.
func (m *Machine) RecordedIn(folder, path string) {
	below, err := filepath.Rel(folder, filepath.Dir(path))
	if m == nil || err != nil || below == "." {
		return
	}
	m.folders = strings.Split(filepath.ToSlash(below), "/")
}

// Setting names the instructions that the figures of a recording were made with: the
// level and the choices between its loops, as PM_SIMD has them.
func (m *Machine) Setting() string {
	if m.Choices == "" {
		return m.Level
	}
	return m.Level + "," + m.Choices
}

// SettingWords adds where the choices come from.
func (m *Machine) SettingWords() string { return cli.SettingWords(m.Level, m.Choices, m.ChoicesFrom) }

// SettingOf names the level of a measurement, with the choices of its machine where the
// recording has them.
func SettingOf(level string, m *Machine) string {
	if m == nil || m.Level != level {
		return level
	}
	return m.SettingWords()
}
