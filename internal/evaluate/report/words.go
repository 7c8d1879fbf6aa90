package report

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// A Word is one that tables use, and what it means there.
type Word struct{ Name, Meaning string }

// Words explains what the tables of the report speak of.
func (r *Report) Words() []Word {
	words := []Word{
		{"R@K", "Share of queries with a row of their class among the first K answers."},
		{randomTitle, "What 8 gallery rows drawn at random find. Where a mode finds no more, drawing rows does as well."},
	}
	has := func(is func(evaluate.Record) bool) bool { return slices.ContainsFunc(r.Records, is) }
	if has(func(c evaluate.Record) bool { return c.Mode == "raw" }) {
		words = append(words, Word{"raw rows", "The rows as the file has them, by Euclidean distance."})
	}
	words = append(words, Word{"prepared rows", "What all modes but raw work on: square root of each entry, its sign kept; rows of unit length; principal components of the public rows, 64 or as many as there are columns; unit length again."})
	if has(func(c evaluate.Record) bool { return c.Epsilon > 0 }) {
		words = append(words, Word{"ceiling", "The most that R@8 can be where 8 rows are picked from a private request alone. It is 1 for up to 8 classes."})
	}
	if has(func(c evaluate.Record) bool { return c.Download > 0 }) {
		words = append(words,
			Word{"cells", "The server divides its gallery into cells and has a list for each, about an eighth of the gallery. A request names one cell: the query's own with a probability that grows with epsilon, otherwise another, each as likely. The client gets the list of that cell and ranks it by its true row."},
			Word{"list only", "No base sample is ranked with the lists."},
			Word{"base sample", "Random rows of the gallery that the client downloads once, whatever it asks, and ranks with every list."},
			Word{"once", "What a client downloads once, whatever it asks: the codebook, and the base sample where there is one."},
			Word{"of int8", "The same requests, answered with rows of one byte an entry in place of four."},
			Word{"no query", "As many random rows as were downloaded, ranked the same way, with no request sent."})
	}
	if has(func(c evaluate.Record) bool { return c.Volume.AllRows > 0 }) {
		words = append(words, Word{"all rows", "The client takes the whole gallery once, as rows of int8, and ranks at home. Nothing is sent about a query, so there is no epsilon."})
	}
	if has(func(c evaluate.Record) bool { return c.Volume.Sealed.Up > 0 }) {
		words = append(words, Word{"sealed", "The client encrypts its row once for each cell that it wants scored, the server multiplies its whole gallery into the ciphertexts, and the client decrypts the scores. The server sees neither the row nor the cells."},
			Word{"hint", "What a client needs to decrypt answers: it takes it once, with the norms of all rows and the centres of all cells."})
	}
	if has(func(c evaluate.Record) bool { _, ok := c.Figures[evaluate.OverlapAt8]; return ok }) {
		words = append(words, Word{"overlap@8", "Share of the 8 rows nearest to the true query, in the space of the mode, that came back."})
	}
	return words
}
