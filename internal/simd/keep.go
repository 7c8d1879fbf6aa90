package simd

import "sync/atomic"

// A keep finds the choices that an earlier process kept, or measures and keeps them.
type keep func(measure func() (choices string, clear bool)) (choices string)

var keeper atomic.Pointer[keep]

// KeepChoices sets the function that decides the choices of this process. The first call of
// At that has to choose calls it, once. The function returns the choices that an earlier
// process on this machine has measured, as Kernels.Choices spells them, or those that measure
// returns. It may keep the latter if clear is true. Where the forms are too close to tell
// which is faster, measure returns the default choices and false. A result that is not a
// choice of the level is ignored. PM_SIMD takes precedence.
//
// KeepChoices is for the main function of a program, since package simd itself touches no
// files. Once choices are made it has no effect. The function must not call At.
func KeepChoices(function func(measure func() (choices string, clear bool)) (choices string)) {
	k := keep(function)
	keeper.Store(&k)
}

// keptOrMeasured reports whether gathers are faster, according to what a program has
// kept or to a measurement.
func keptOrMeasured(k *keep, measure func() (gathers, clear bool)) bool {
	if k != nil {
		choices := (*k)(func() (string, bool) {
			gathers, clear := measure()
			return gatherChoice(gathers), clear
		})
		if wish := wishes[choices]; wish != noWish {
			return wish == wishOn
		}
	}
	gathers, _ := measure()
	return gathers
}
