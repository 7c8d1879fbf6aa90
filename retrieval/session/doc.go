// Package session is the conversation of a client with the server of a gallery: it finds the nearest rows
// of the gallery for rows that the server must not see, in one of three modes.
//
// A session is one run. New takes the address and the Settings, and Answer the rows: it takes from the
// server what does not depend on a row (codebook or manifest, map, sample, hint), then asks for every row,
// and returns a Result with the numbers and distances of the nearest rows. Plan says what Answer would
// send, take and spend, and does nothing of that:
//
//	s, err := session.New("https://birds.example", session.Settings{Mode: session.Sealed, K: 8, Unconfirmed: true})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	result, err := s.Answer(ctx, session.Rows{X: rows, File: "rows.npy"})
//
// Rows are checked, and in mode Cells recognised as records, before the server is asked for anything.
// What is taken once comes before any number of a row is looked at again, and what is sent never depends
// on what was found. In mode Cells a run pins the codebook, pays from a ledger before it sends, keeps what it
// sent, and begins again where the codebook is replaced and the settings allow it. In mode Sealed it
// follows new versions of the gallery and new epochs, and fetches always K records for a row: what is
// missing is reported when everything was sent. A run that could not
// be finished ends before anything about a row is sent: with a Refusal where the settings or the ledger
// are the reason, and with another error where memory or the size of the rows is.
package session
