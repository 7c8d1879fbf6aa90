package report

// A besideTable is a table of one setting with a column for each other one next to it.
type besideTable struct {
	section
	own int            // columns of the first setting
	at  map[string]int // the row of a key
}

func newBesideTable(s section) *besideTable {
	return &besideTable{section: s, own: len(s.head), at: map[string]int{}}
}

// put writes the line of a key at the first setting.
func (t *besideTable) put(key string, cells []string) {
	t.at[key] = len(t.rows)
	t.rows = append(t.rows, cells)
}

// column begins the column of another setting.
func (t *besideTable) column(setting string) { t.head = append(t.head, setting) }

// beside writes into the column that was begun last. A key without a line gets one, which
// begins with the cells of lead.
func (t *besideTable) beside(key string, lead []string, text string) {
	row, known := t.at[key]
	if !known {
		row = len(t.rows)
		t.put(key, lead)
	}
	t.rows[row] = append(padded(t.rows[row], len(t.head)-1), text)
}

// finish fills the lines up and explains the columns, which have what is said.
func (t *besideTable) finish(first, what string) section {
	for i := range t.rows {
		t.rows[i] = padded(t.rows[i], len(t.head))
	}
	if first != nativeSetting {
		t.about += " Recorded with PM_SIMD=" + first + "."
	}
	if len(t.head) > t.own {
		t.about += " Columns named for a value of PM_SIMD have what was recorded with it: " + what + "."
	}
	return t.section
}

// padded returns a row with empty cells up to a number of columns.
func padded(row []string, columns int) []string {
	return append(row, make([]string, max(0, columns-len(row)))...)
}
