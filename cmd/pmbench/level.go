package main

import "github.com/seed-64e14a55/privatemail/simd"

// level names the instructions the engine's inner loops are made of.
func level() string { return simd.Best().String() }
