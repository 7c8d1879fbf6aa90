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
// There is at least one row, and none but the rows' own entries are read.

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
