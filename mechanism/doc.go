// Package mechanism turns a computed first step into a differentially private
// release: it calibrates Gaussian noise to a proved sensitivity, writes down
// the cost of the release, draws the noise exactly, and returns a
// release.Release and nothing else. Subset.Select, for one item of many, spends
// from the same ledger.
//
//	c, err := mechanism.Calibrate(mechanism.CalibrationSettings{
//		Epsilon: 1, Delta: 1e-6, Sensitivity: bound, Reach: reach, // of package sensitivity
//	})
//	if err != nil {
//		return err
//	}
//	ledger, err := mechanism.OpenLedger("privacy.ledger")
//	if err != nil {
//		return err
//	}
//	defer ledger.Close()
//	r, err := c.Privatize(ctx, ledger, mechanism.FirstStep{
//		Displacement: displacement, // f - Q
//		Query:        query,
//		Unit:         mechanism.Unit{Kind: release.UnitRecord, Name: "holiday-042.jpg"},
//		Labels:       mechanism.LabelSettings{Mode: release.ModeDropped},
//	}, nil)
//
// # Names
//
// The constants that settings take:
//
//	Unit.Kind            release.UnitRecord, release.UnitClient
//	LabelSettings.Mode   release.ModePublic, release.ModeDropped, release.ModeRandomised
//	Total.Kind           GDP, ZCDP, Pure, Mixed
//	relation of a bound  sensitivity.ReplaceOne, sensitivity.Null and others
//	Spend.Protects       AnyRow, AnyData, and the value that Calibration.Spend sets
//
// # What is promised
//
// The noise of a release is (epsilon, delta)-private: P[S] <= e^epsilon P'[S] + delta
// for every set S of outputs and any two data sets that are neighbours under the
// relation of its bound. It is Mu-Gaussian-private and Rho-zCDP as well, with Mu =
// L2Sensitivity/Sigma and Rho = Mu^2/2; these numbers add up over several releases.
// Randomised labels cost a pure epsilon in addition. How far the odds between two
// neighbours move is a different question, which docs/privacy.md answers.
//
// # Calibration
//
// Noise of standard deviation s times the sensitivity is enough exactly when
//
//	Phic(epsilon s - 1/(2s)) - e^epsilon Phic(epsilon s + 1/(2s)) <= delta,
//
// Phic the upper tail of the standard normal (Balle and Wang 2018, Theorem 8).
// Calibrate takes as c the least such s, rounded up by a relative 2^-40; the
// classical formula is optional, for epsilon below 1. Sigma is c times
//
//	L2Sensitivity = Delta + 2E + g sqrt(m),
//
// Delta the bound for the exact step, E a bound on the error of the computed
// one, g the grid step and m the number of coordinates. The grid step is a
// power of two about 2^-40 Sigma, Sigma is a multiple S of it, and all of them
// follow from public numbers.
//
// # Why it is private
//
// Floating point noise is not private: its gaps and its last bits reveal the
// number it was added to (Mironov 2012). Here the value x is first rounded to
// the grid. The noise is N rounded to the grid, where N is an ideal normal
// number, drawn exactly with integer arithmetic (Karney 2016). Rounding to the
// grid commutes with shifts by grid points, so
//
//	round(x) + round(N) = round(round(x) + N):
//
// the output is a function of the ideal Gaussian mechanism applied to round(x), so its
// guarantees hold here, with no allowance for approximation, as far as the bits are
// random (see "What is assumed"). Rounding moves a matrix by at most g sqrt(m)/2, which
// is why g sqrt(m) is part of the sensitivity. Values are clamped to 2^51 g first, which
// cannot increase the distance of neighbours; Calibrate refuses numbers for which the
// clamp could be reached.
//
// The released matrix is f - Q, small numbers around zero. Q is public, and the
// reader adds it back.
//
// # Selection
//
// A record that falls in one of m cells need not be released with noise at all.
// Subset.Select reports w cells, its own among them with probability
// w r/(w r + m - w), r <= e^epsilon rational: purely epsilon-private, drawn with whole
// numbers. On average over the items no epsilon-private choice of w of m contains the
// right one more often (package retrieval, mode cells). It spends from the same ledger:
// epsilon in a Pure ledger and from the pure pot of a Mixed one, mu(epsilon)^2/2 in a
// GDP ledger, epsilon^2/2 in a ZCDP ledger.
//
// # Order
//
// Privatize and Subset.Select check everything and draw their seeds, then the Budget
// writes the spend down, and only then is noise made. Subset.Draw draws a set before Subset.Pay
// writes the spend down, for callers who keep the set secret in between. A crash or a
// cancelled context after the spend leaves the budget spent; nothing is ever given back.
//
// # Budgets
//
// A spend says which pairs of data sets it protects, a Protection. Releases add up for the
// pairs that all of them protect, so a budget refuses a spend for other pairs unless the unit
// says OtherRelation. Balance.Protects says for which pairs the total of a unit holds.
//
// A Ledger is a file that one process at a time holds. Programs that share a budget in
// another way, for example between machines, implement Budget. The promise for all releases
// of a unit together is then as good as that budget; the interface states its duties, and
// package mechanism/budgettest tests them.
//
// # What a release can be worth
//
// A private release bounds how often something about its record can be found from it. A Ceiling
// says how often at most: the recall of classes that any use of the release can reach.
//
// # What is assumed
//
// The bound belongs to the matrix at hand, and its assumptions hold
// (sensitivity.Bound.Assumptions). The system's entropy is good and ChaCha8,
// which stretches 32 bytes of it for each 65,536 coordinates of a matrix, its randomised labels
// and each selection, is a pseudorandom generator. The promise is proved
// for ideal random bits. With ChaCha8 it is
//
//	P[S] <= e^epsilon P'[S] + delta + (1 + e^epsilon) a
//
// for every set S that an observer can recognise, where a is that observer's largest advantage in
// distinguishing ChaCha8 under all these seeds from random bits: computational differential
// privacy (Mironov, Pandey, Reingold and Vadhan 2009). The same holds for every epsilon and delta
// that follow from Rho, Mu or a pure epsilon. Words of the operating system also come from a
// generator with a key of 256 bits (in Linux ChaCha20, which has more rounds). The machine is
// trusted: time, memory and the state of the process are not protected, although noise is drawn
// without looking at the data. Q was drawn from another stream. Labels are covered only as the
// label mode of the release says.
//
// # Cost
//
// A noise number takes 18 words of ChaCha8 on average and about 250 ns on one core (go
// test ./mechanism -run '^$' -bench Draw) and no memory. The result
// does not depend on the number of workers. All exported functions are safe for
// concurrent use.
//
// # References
//
// Balle and Wang, Improving the Gaussian mechanism for differential privacy,
// 2018. Karney, Sampling exactly from the normal distribution, 2016. Mironov, On
// significance of the least significant bits for differential privacy, 2012. Mironov, Pandey,
// Reingold and Vadhan, Computational differential privacy, 2009.
// Dong, Roth and Su, Gaussian differential privacy, 2022. Rogers, Roth, Ullman and
// Vadhan, Privacy odometers and filters, 2016. Smith and Thakurta, Fully adaptive
// composition for Gaussian differential privacy, 2022. Vadhan and Zhang, Concurrent
// composition theorems for differential privacy, 2023. Dwork and Roth, The
// algorithmic foundations of differential privacy, 2014, appendix A.
package mechanism
