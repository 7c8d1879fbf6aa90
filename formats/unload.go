package formats

// Unload returns the memory of a mapping to the system, if there is a mapping and the
// system supports that: later reads of Data load it from the file again. Otherwise it does
// nothing. It may be called while Data is in use.
func (m *Matrix) Unload() {
	if m.unmap != nil {
		unload(m.Data)
	}
}
