//go:build gc && !noasm && !purego

package asm

// The functions Dot multiply as many rows of a with as many of b as their names say.
//
//	for i := range 2 {
//		for j := range 4 {
//			dst[i*dstStride+j] = sum over c < d of a[i*aStride+c] * b[j*bStride+c]
//		}
//	}
//
// with c in 8 lanes and products fused with sums.

//go:noescape
func Dot2x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)

//go:noescape
func Dot1x4F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)

//go:noescape
func Dot1x1F32NEON(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, d uintptr)

// ExpNegF32NEON computes exp(-x).
//
//	for i := range n {
//		dst[i] = expNegGo(float64(x[i]))
//	}
//
//go:noescape
func ExpNegF32NEON(dst, x *float32, n uintptr, constants *[13]float64)

// WeightsF32NEON computes Gaussian weights.
//
//	for i := range n {
//		dst[i] = expNegGo(gamma * d2[i])
//	}
//
//go:noescape
func WeightsF32NEON(dst *float32, d2 *float64, n uintptr, gamma float64, constants *[13]float64)

// The functions MulSparse compute as many columns of the product of sparse rows with x
// as their names say.
//
//	for r := range rows {
//		sum := 0.0 // for each column
//		for p := ptr[r]; p < ptr[r+1]; {
//			var even, odd float32
//			for end := min(p+32, ptr[r+1]); p < end; p += 4 {
//				var v [4]float32
//				for e := range min(4, end-p) {
//					v[e] = val[p+e] * x[ind[p+e]*stride+column]
//				}
//				even += v[0] + v[2]
//				odd += v[1] + v[3]
//			}
//			sum += float64(even + odd)
//		}
//		dst[r*dstStride+column] = float32(sum)
//	}
//
// There is at least one row. Only entries of the rows are read.

//go:noescape
func MulSparse1F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

//go:noescape
func MulSparse2F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

//go:noescape
func MulSparse4F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

//go:noescape
func MulSparse8F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

//go:noescape
func MulSparse16F32NEON(dst *float32, dstStride uintptr, ptr *uint64, rows uintptr, ind *uint32, val, x *float32, stride uintptr)

// The functions MulWords add the products of 16 rows of signed bytes with as many pieces of words
// as their names say. Pieces are signed bytes too.
//
//	for r := range 16 {
//		for i := range 4 {
//			sum := 0
//			for t := range depth {
//				sum += panel[(t/4)*64+r*4+t%4] * packed[(t/16)*64+i*16+t%16]
//			}
//			sums[pieces[i][0]*stride+r] += sum << pieces[i][1]
//		}
//	}
//
// stride counts words, and group is not used. depth is a multiple of 16. They prefetch depth/4
// lines from ahead on. The processor must have dot products of bytes.

//go:noescape
func MulWords1x2NEON(sums *uint32, stride uintptr, panel *int8, group, depth uintptr, packed *uint32, pieces *[2]uint32, ahead *int8)

//go:noescape
func MulWords1x4NEON(sums *uint32, stride uintptr, panel *int8, group, depth uintptr, packed *uint32, pieces *[2]uint32, ahead *int8)

// The functions WordDot are the functions Dot for words, modulo 2^32.

//go:noescape
func WordDot2x4NEON(dst *uint32, dstStride uintptr, a *uint32, aStride uintptr, b *uint32, bStride uintptr, d uintptr)

//go:noescape
func WordDot1x4NEON(dst *uint32, dstStride uintptr, a *uint32, aStride uintptr, b *uint32, bStride uintptr, d uintptr)

//go:noescape
func WordDot1x1NEON(dst *uint32, dstStride uintptr, a *uint32, aStride uintptr, b *uint32, bStride uintptr, d uintptr)
