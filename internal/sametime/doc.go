// Package sametime computes with secrets: its functions take the same steps whatever the numbers
// are. They have no branch and no index that depends on a number. Masks are all ones for yes and
// 0 for no.
//
// Processors take many times longer for subnormal numbers of floating point. Who computes with
// secrets therefore keeps them, and what is made of them, in a range that has none: DropSmall and
// DropSubnormal help with that.
//
// Package inspect, next to this one, finds branches and indices that depend on a secret in the
// source of those who use it.
package sametime
