//go:build !race

package simd

// Without the race detector these functions do nothing; see race.go.

func reads[T any](s []T)  {}
func writes[T any](s []T) {}

func readsSpans(d int, coords Rows[float32], spans []uint32) {}

func readsRows(rows Rows[float32], width int, index []uint32) {}

func readsFirst[T float32 | float64](x Rows[T], n, width int) {}

func writesFirst[T float32 | float64](x Rows[T], n, width int) {}
