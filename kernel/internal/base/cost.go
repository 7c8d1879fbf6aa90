package base

// Cost is what an operator takes; package kernel says what its fields mean.
type Cost struct {
	BuildSeconds, StepSeconds float64
	ResidentBytes             int64
	PeakBytes                 int64
	StreamedBytes             int64
	Flops                     float64
	NNZ                       int64
}
