package sealed

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// coreSVP returns the logarithm to base 2 of what the primal attack on LWE takes in the core-SVP
// model of Alkim, Ducas, Pöppelmann and Schwabe ("Post-quantum key exchange - a new hope", USENIX
// Security 2016), .292 times the least block size b for which
//
//	sigma sqrt(b) <= delta^(2b-d-1) q^(m/d),  d = m + n + 1,
//
// holds for some number m of samples, where delta is ((pi b)^(1/b) b / (2 pi e))^(1/(2b-2)). A
// uniform secret of n words is no harder than one that follows the law of errors.
func coreSVP(n int, q, sigma float64) float64 {
	for b := 60.0; ; b++ {
		delta := math.Log2(math.Pow(math.Pi*b, 1/b)*b/(2*math.Pi*math.E)) / (2*b - 2)
		for m := n / 2; m < 3*n; m += 4 {
			d := float64(m + n + 1)
			if math.Log2(sigma)+math.Log2(b)/2 <= (2*b-d-1)*delta+math.Log2(q)*float64(m)/d {
				return .292 * b
			}
		}
	}
}

// The estimate of the documentation, computed by its formula, for secrets as long as ours and
// for those of the SimplePIR paper.
func Example_hardness() {
	fmt.Printf("%d words: 2^%.0f\n", wire.SecretWords, coreSVP(wire.SecretWords, 1<<32, Deviation))
	fmt.Printf("1024 words: 2^%.0f\n", coreSVP(1024, 1<<32, Deviation))
	// Output:
	// 1408 words: 2^146
	// 1024 words: 2^95
}
