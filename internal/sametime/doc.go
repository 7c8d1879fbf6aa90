// Package sametime computes with secrets: its functions take the same steps for all numbers. No
// branch and no index in them depends on a number. Masks are all ones for true and 0 for false.
//
// Processors take many times longer for subnormal floating-point numbers. So code that computes
// with secrets must keep them, and numbers computed from them, out of that range: DropSmall and
// DropSubnormal help with that.
//
// Package inspect, next to this one, finds branches and indices that depend on a secret, in
// the source of packages that use this one.
package sametime
