package formats

// Unload gives the memory of a mapping back to the system, where there is a mapping and the
// system can take its memory: what is read of Data later comes from the file again. It does
// nothing otherwise. It may be called while Data is in use.
func (m *Matrix) Unload() {
	if m.unmap != nil {
		unload(m.Data)
	}
}
