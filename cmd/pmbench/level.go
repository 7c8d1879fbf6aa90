package main

// level names the instructions the engine's inner loops are made of.
func level() string { return "generic" }
