package report

import (
	"cmp"
	"slices"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// nativeSetting stands for what the program takes by itself.
const nativeSetting = "native"

// settingReport is what was measured at one setting.
type settingReport struct {
	name string
	*report
}

// bySetting splits the figures of a family by the setting they were made with, and takes
// the newest recording of each case. First is what was measured as users run it, without
// PM_SIMD, if anything was.
func (r *report) bySetting() (out []settingReport) {
	native := map[string]bool{}
	for _, m := range r.machines() {
		if m != nil && m.Asked == "" {
			native[m.Setting()] = true
		}
	}
	parts, names := r.split(func(m *record.Machine) string {
		if m == nil || native[m.Setting()] {
			return nativeSetting
		}
		return m.Setting()
	})
	for i, name := range names {
		out = append(out, settingReport{name, parts[i].newest()})
	}
	slices.SortFunc(out, func(a, b settingReport) int {
		if (a.name == nativeSetting) != (b.name == nativeSetting) {
			return map[bool]int{true: -1, false: 1}[a.name == nativeSetting]
		}
		return cmp.Compare(a.name, b.name)
	})
	return out
}

// machines returns the machine of every figure, nil for those that hold none.
func (r *report) machines() (out []*record.Machine) {
	for _, x := range r.records {
		out = append(out, x.Machine)
	}
	for _, x := range r.ratios {
		out = append(out, x.Machine)
	}
	return out
}
