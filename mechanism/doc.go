// Package mechanism turns a computed first step into a differentially private
// release: it calibrates Gaussian noise to a proved sensitivity, writes down
// what the release costs, draws the noise exactly, and hands out a
// release.Release and nothing else. Two smaller mechanisms spend from
// the same ledger: Select, for one item of many, and Series, for vectors.
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
//	r, err := mechanism.Privatize(ctx, c, ledger, mechanism.FirstStep{
//		Displacement: displacement, // f - Q
//		Query:        query,
//		Unit:         mechanism.Unit{Kind: mechanism.UnitRecord, Name: "holiday-042.jpg"},
//		Labels:       mechanism.LabelSettings{Mode: release.ModeDropped},
//	}, nil)
//
// # Names
//
// The constants that settings take:
//
//	Unit.Kind            UnitRecord, UnitClient, which package release has too
//	LabelSettings.Mode   release.ModePublic, release.ModeDropped, release.ModeRandomised
//	Total.Kind           GDP, ZCDP, Pure, Mixed
//	relation of a bound  sensitivity.ReplaceOne, sensitivity.Null and others
//	Spend.Protects       AnyRow, AnyData, and what Calibration.Spend fills in
//
// # What is promised
//
// The noise of a release is (epsilon, delta)-private: P[S] <= e^epsilon P'[S] + delta
// for every set S of outputs and any two data sets that are neighbours under the
// relation of its bound. It is Mu-Gaussian-private and Rho-zCDP as well, with Mu =
// L2Sensitivity/Sigma and Rho = Mu^2/2, and these are the numbers that add up over several
// releases. Randomised labels cost a pure epsilon of their own on top. How far the odds
// between two neighbours move is another matter: LossTail and LossAt have it.
//
// # Calibration
//
// Noise of standard deviation s times the sensitivity is enough exactly when
//
//	Phic(epsilon s - 1/(2s)) - e^epsilon Phic(epsilon s + 1/(2s)) <= delta,
//
// Phic the upper tail of the standard normal (Balle and Wang 2018, Theorem 8).
// Calibrate takes as c the least such s, rounded up by a relative 2^-40; the
// classical formula is there on request, for epsilon below 1. Sigma is c times
//
//	L2Sensitivity = Delta + 2E + g sqrt(m),
//
// Delta the bound for the exact step, E a bound on the error of the computed
// one, g the grid step and m the number of coordinates. The grid is a power of
// two about 2^-40 Sigma, Sigma a multiple S of it, and all of them follow from
// public numbers.
//
// # Why it is private
//
// Floating point noise is not: its gaps and its last bits tell what it was added
// to (Mironov 2012). Here the value x is first rounded to the grid, and noise is
// N rounded to the grid, N an ideal normal number, drawn exactly with integer
// arithmetic (Karney 2016). Rounding to the grid commutes with shifts by grid
// points, so
//
//	round(x) + round(N) = round(round(x) + N):
//
// the output is a function of the ideal Gaussian mechanism applied to round(x),
// and what holds for that holds here, with no allowance for approximation, as far as the
// bits are random (see "What is assumed").
// Rounding moves a matrix by at most g sqrt(m)/2, which is why g sqrt(m) is part
// of the sensitivity. Values are clamped to 2^51 g first, which cannot bring
// neighbours further apart; Calibrate refuses where the clamp could be reached.
//
// The matrix that is released is f - Q, small numbers around zero. Q is public,
// and the reader adds it back.
//
// # Selection
//
// A record that falls in one of m cells need not be released with noise at all.
// Select reports w cells, its own among them with probability
// w r/(w r + m - w), r <= e^epsilon rational: purely epsilon-private, drawn with
// whole numbers. On average over the items no epsilon-private choice of w of m holds the
// right one more often (package retrieval, mode cells). It spends from the same ledger:
// epsilon in a Pure one and from the pure pot of a Mixed one, mu(epsilon)^2/2 in a GDP
// one, epsilon^2/2 in a ZCDP one.
//
// # Series
//
// Vectors that are released one after the other, each perhaps chosen by what came
// before, are paid for together by NewSeries: T of them at sensitivity D are worth
// one at sqrt(T) D. The noise is that of Privatize, but the sensitivity is a number
// the caller has proved, and what comes out are plain numbers, not a
// release.Release.
//
// # Order
//
// Privatize and Select check everything and draw their seeds, then the Budget
// writes the spend down, and only then is noise made. NewSeries checks and spends;
// Series.Release makes noise. Subset.Draw draws a set before Subset.Pay writes the spend down, for
// callers who keep the set in between and show it to nobody. A crash or a cancelled context in between leaves the
// budget spent; nothing is ever given back.
//
// # Budgets
//
// A spend says which pairs of data sets it protects, a Protection. Releases add up for the
// pairs that all of them protect, so a budget refuses a spend of a unit for others, unless the
// unit says OtherRelation, and Balance.Protects says which pairs the total of a unit is for.
//
// A Ledger is a file that one process at a time holds. Programs that share a budget
// otherwise, such as several machines, write a Budget of their own. What is promised of all
// releases of a unit together is then as good as that budget; the interface says what it
// must keep, and package mechanism/budgettest tries it.
//
// # What is assumed
//
// The bound is one of the matrix at hand, with its assumptions
// (sensitivity.Bound.Assumptions). The system's entropy is good and ChaCha8,
// which stretches 32 bytes of it for each 65,536 coordinates of a matrix, its randomised
// labels, each vector of a series and each selection, is a pseudorandom generator. What is promised
// is proved for ideal random bits. With ChaCha8 it is
//
//	P[S] <= e^epsilon P'[S] + delta + (1 + e^epsilon) a
//
// for every set S that somebody can recognise, where a is the most by which they can tell
// ChaCha8 under all these seeds from random bits: computational differential privacy (Mironov,
// Pandey, Reingold and Vadhan 2009). The same holds for every epsilon and delta that follow from
// Rho, Mu or a pure epsilon. Words of the operating system would also come from a generator with a
// key of 256 bits, ChaCha20 in Linux, which has more rounds. The machine
// is trusted: time, memory and the state of the process are not protected,
// although noise is drawn without looking at the data. Q was drawn from another
// stream. Labels are covered only as the label mode of the release says.
//
// # Cost
//
// A noise number takes 18 words of ChaCha8 on average and about 250 ns on one
// core (go test ./mechanism -run '^$' -bench Draw); no memory is taken for it. The result
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
