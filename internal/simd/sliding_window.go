package simd

// A Window is a run of ascending numbers, at places From to To-1. More of them follow, up
// to place End-1. Half is how far the numbers of the window may be from the range given to
// SlideWindows.
type Window struct{ From, To, End, Half int }

// SlideWindows moves windows forward to the numbers within Half of the range from lo to hi.
// From becomes the place of the first number that is not below lo-Half, and To the place
// after the last number that is not above hi+Half. Neither moves back. Numbers must ascend
// from From to End-1, and Half must be less than 2^62.
//
// SlideWindows panics where a window reaches beyond the numbers, or Half is negative.
func (s *Kernels) SlideWindows(windows []Window, numbers []uint32, lo, hi uint32) {
	if len(windows) == 0 {
		return
	}
	for i := range windows {
		if w := &windows[i]; uint(w.From) > uint(w.To) || uint(w.To) > uint(w.End) || w.End > len(numbers) || w.Half < 0 {
			panic("simd: slide windows: a window beyond the numbers")
		}
	}
	reads(numbers)
	s.slideWindows(windows, numbers, lo, hi)
}

// slideWindowsGo is the reference.
func slideWindowsGo(windows []Window, numbers []uint32, lo, hi uint32) {
	for i := range windows {
		w := &windows[i]
		least, most := int64(lo)-int64(w.Half), int64(hi)+int64(w.Half)
		from, to := w.From, w.To
		for from < w.End && int64(numbers[from]) < least {
			from++
		}
		to = max(to, from)
		for to < w.End && int64(numbers[to]) <= most {
			to++
		}
		w.From, w.To = from, to
	}
}
