package cli

import "github.com/seed-64e14a55/privatemail/internal/simd"

// Choices returns which loops of package simd this program uses if its level has a choice,
// such as gather=off, and where the choice comes from: "measured" or "PM_SIMD". Both are ""
// if there is no choice.
func Choices() (choices, from string) {
	choices = simd.At(simd.Best()).Choices()
	switch {
	case choices == "":
		return "", ""
	case simd.Measured():
		return choices, "measured"
	}
	return choices, "PM_SIMD"
}

// SettingWords returns a level and its choices as PM_SIMD spells them, and where the
// choices come from.
func SettingWords(level, choices, from string) string {
	if choices == "" {
		return level
	}
	level += "," + choices
	if from != "" {
		level += " (" + from + ")"
	}
	return level
}
