package main

// processorTimes are times of all processors of a machine together.
type processorTimes struct {
	worked float64
	stolen float64 // that a virtual machine wanted to work, and its host had it wait
}

// stolenShare does something and returns which share of the time that the processors of this
// machine wanted to work meanwhile its host has had them wait; nil where the system does not tell.
func stolenShare(something func() error) (*float64, error) {
	before, known := readProcessors()
	err := something()
	after, ok := readProcessors()
	if !known || !ok {
		return nil, err
	}
	return finite(shareStolen(before, after)), err
}

// shareStolen is what stolenShare returns, by the times before and after.
func shareStolen(before, after processorTimes) float64 {
	stolen, worked := max(after.stolen-before.stolen, 0), max(after.worked-before.worked, 0)
	if stolen == 0 {
		return 0
	}
	return stolen / (stolen + worked)
}
