package mechanism

// Pots holds what a ledger counts for one unit: Rho of Gaussian or zero-concentrated
// privacy, and Pure, the epsilon of pure privacy. A GDP or ZCDP ledger counts
// everything in Rho, a Pure ledger everything in Pure, and a Mixed ledger each in
// its own pot. Both add up.
type Pots struct{ Rho, Pure Amount }

// add returns a + b, and whether both sums can be represented.
func (a Pots) add(b Pots) (sum Pots, ok bool) {
	rho, fits := a.Rho.add(b.Rho)
	pure, ok := a.Pure.add(b.Pure)
	return Pots{rho, pure}, ok && fits
}

// minus returns a - b for b within a.
func (a Pots) minus(b Pots) Pots { return Pots{a.Rho.minus(b.Rho), a.Pure.minus(b.Pure)} }

// within reports whether neither pot is above the pot of b.
func (a Pots) within(b Pots) bool { return a.Rho.Cmp(b.Rho) <= 0 && a.Pure.Cmp(b.Pure) <= 0 }
