package simd

import "sync/atomic"

// A keep finds the choices of an earlier process, or has them measured and keeps them.
type keep func(measure func() (choices string, clear bool)) (choices string)

var keeper atomic.Pointer[keep]

// KeepChoices has the choices of this process go through a function, which is called once, by
// the first call of At that has to choose. The function returns the choices that an earlier
// process on this machine has measured, as Kernels.Choices spells them, or those that measure
// returns, which it may keep where they are clear: where the forms are so close that the
// measurement could not tell, measure returns the usual ones, and clear is false. A text that
// is no choice of the level counts for nothing. PM_SIMD goes before.
//
// KeepChoices is for the main function of a program: package simd touches no file by itself,
// and once choices are made it does nothing. The function must not call At.
func KeepChoices(function func(measure func() (choices string, clear bool)) (choices string)) {
	k := keep(function)
	keeper.Store(&k)
}

// keptOrMeasured tells whether gathers are faster, by what a program keeps or by a
// measurement.
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
