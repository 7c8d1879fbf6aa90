//go:build !race

package simd

func reads[T any](s []T)  {}
func writes[T any](s []T) {}

func readsSpans(d int, coords []float32, stride int, spans []uint32) {}

func readsRows(rows []float32, stride, width int, index []uint32) {}
