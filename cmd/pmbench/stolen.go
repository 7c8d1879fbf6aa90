package main

// processorTimes are times of all processors of a machine together.
type processorTimes struct {
	worked float64
	stolen float64 // that a virtual machine wanted to work, and its host had it wait
}

// stolenShare does something and returns which share of the time that the processors wanted to
// work meanwhile the host of a virtual machine has had them wait; 0 where the system does not
// tell.
func stolenShare(something func() error) (float64, error) {
	before, _ := readProcessors()
	err := something()
	after, ok := readProcessors()
	stolen, worked := after.stolen-before.stolen, after.worked-before.worked
	if !ok || !(stolen > 0) {
		return 0, err
	}
	return stolen / (stolen + max(worked, 0)), err
}
