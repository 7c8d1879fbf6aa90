package release

import (
	"math"
	"slices"
	"testing"
)

func TestDeclare(t *testing.T) {
	values := []int32{0, 2, 1, 2}
	l, err := Declare(values, 3)
	if err != nil {
		t.Fatal(err)
	}
	values[0] = 7
	l.Values()[1] = 7
	if got := l.Values(); l.Len() != 4 || l.Classes() != 3 || !slices.Equal(got, []int32{0, 2, 1, 2}) {
		t.Errorf("%d labels of %d classes: %v", l.Len(), l.Classes(), got)
	}
	for name, c := range map[string]struct {
		values  []int32
		classes int
	}{
		"none":       {nil, 3},
		"unlabelled": {[]int32{0, -1}, 3},
		"too large":  {[]int32{0, 3}, 3},
		"lowest":     {[]int32{math.MinInt32}, math.MaxInt},
		"no classes": {[]int32{0}, 0},
		"negative":   {[]int32{0}, -1},
	} {
		l, err := Declare(c.values, c.classes)
		if wantError(t, err, ErrLabels); l != nil {
			t.Errorf("%s: labels in spite of the error", name)
		}
	}
}

func TestPublicLabelsOfARelease(t *testing.T) {
	r := sample()
	l, err := r.PublicLabels()
	if err != nil {
		t.Fatal(err)
	}
	if l.Len() != r.Rows || l.Classes() != 3 || !slices.Equal(l.Values(), r.Labels.Values) {
		t.Errorf("%v", l.Values())
	}
	for _, mode := range []string{ModePublic, ModeDropped, ""} {
		r.Labels.Mode = mode
		_, err := r.PublicLabels()
		wantError(t, err, ErrLabels)
	}
	_, err = new(Release).PublicLabels()
	wantError(t, err, ErrLabels)
}
