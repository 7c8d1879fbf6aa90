// Package digits contains a small real data set for tests, examples and the
// demonstration: 1797 handwritten digits.
//
// Each row is an image of 8 x 8 pixels in row-major order, 64 counts between 0
// and 16: a 32 x 32 bitmap cut into blocks of 4 x 4 and the set bits of each
// block counted. The label is the digit, 0 to 9, and every digit appears 174 to
// 183 times.
//
// The set is the test part of "Optical Recognition of Handwritten Digits" by
// E. Alpaydin and C. Kaynak (1998), UCI Machine Learning Repository,
// https://doi.org/10.24432/C50P49, licence CC BY 4.0; see ATTRIBUTION.md.
//
// It is embedded in the program as digits.bin.gz, 43 KB: one byte per pixel, image
// after image, then one byte per label. The program in _gen wrote it:
//
//	go run ./_gen features.npy labels.npy digits.bin.gz
package digits
