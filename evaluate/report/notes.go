package report

// What stands beside figures wherever they are shown.
const (
	// CeilingNote says what a ceiling of R@8 holds for.
	CeilingNote = "The ceiling bounds R@8 where the request is (epsilon, delta)-private for the whole record of the query, any record against any other (replace-one), where the 8 answers are picked from the request without another look at the record, and where classes are equally likely. A client that gets more rows and ranks them by its true features, as in mode cells, is not bound by it."
	// FetchingNote says what using a match discloses.
	FetchingNote = "Matches are row numbers. Fetching the matched items from the same server shows that server which they are: epsilon is for the request, not for what is fetched after it."
)
