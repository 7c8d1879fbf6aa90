package report

// What stands next to figures wherever they are shown.
const (
	// CeilingNote says what a ceiling of R@8 holds for.
	CeilingNote = "The ceiling bounds R@8 where the request is (epsilon, delta)-private for the whole record of the query, any record against any other (replace-one), where the 8 answers are picked from the request without another look at the record, and where classes are equally likely. A client that gets more rows and ranks them by its true features, as in mode cells, is not bound by it."
	// FetchingNote says what using a match discloses.
	FetchingNote = "Matches are row numbers. Fetching the matched items from the same server shows that server which they are: epsilon is for the request, not for what is fetched after it."
	// AssumptionNote says what hides a query that is encrypted.
	AssumptionNote = "A query of mode sealed has no epsilon. The server computes on what it cannot read, and learns nothing about the query as long as nobody can break AES-256 or solve the learning-with-errors problem of these sizes (an estimate of 2^142 operations for a query, 2^128 with a quantum computer, no proof and no outside audit). An epsilon is proved for ideal noise and assumes that the generator of the noise, ChaCha8, is good. One cannot be converted into the other. The gallery is not protected, nor is how often and when a client asks."
)
