package sensitivity

import "fmt"

// A Relation says which two data sets are neighbours: the change by one person
// that the release hides. It has no default; the zero value is refused with
// ErrRelation.
//
// The row that changes is called s. Labels are integers 0 .. classes-1. The
// null record is the zero row.
type Relation int

// The relations, with their names in the proofs.
const (
	// ReplaceOne, (b): row s is any unit row with any label, against any other.
	// Under this relation the identity of the record is protected at the stated
	// level. It is the one to prefer.
	ReplaceOne Relation = iota + 1
	// Null, (a): row s with its label, against the null record with label 0.
	// It is the paper's relation. The null record is not neutral (it has the
	// same weight to every row and label 0 is a class), and between two real
	// records lie two such steps.
	Null
	// FeaturesReplace, (cr): as ReplaceOne, but the label of row s is public and
	// stays. Nothing is promised about the label.
	FeaturesReplace
	// FeaturesNull, (cn): as Null, but the label of row s is public and stays.
	// Nothing is promised about the label.
	FeaturesNull
)

var relationNames = [...]string{ReplaceOne: "replace-one", Null: "null", FeaturesReplace: "features-replace", FeaturesNull: "features-null"}

// String returns the name of the relation as the commands spell it.
func (r Relation) String() string {
	if r.valid() {
		return relationNames[r]
	}
	return fmt.Sprintf("Relation(%d)", int(r))
}

// RelationByName returns the relation of that name, as the commands spell it,
// or ErrRelation.
func RelationByName(name string) (Relation, error) {
	for r := ReplaceOne; r <= FeaturesNull; r++ {
		if relationNames[r] == name {
			return r, nil
		}
	}
	return 0, named("relation", refuse(ErrRelation, "no relation %q; there are replace-one, null, features-replace and features-null", name))
}

// LabelPrivate reports whether the label of the changed row is protected too.
// If it is, nothing after the release may read that label.
func (r Relation) LabelPrivate() bool { return r == ReplaceOne || r == Null }

// Real returns the relation between two real records: ReplaceOne for Null,
// FeaturesReplace for FeaturesNull, and r itself for the others.
func (r Relation) Real() Relation {
	switch r {
	case Null:
		return ReplaceOne
	case FeaturesNull:
		return FeaturesReplace
	}
	return r
}

func (r Relation) valid() bool { return r >= ReplaceOne && r <= FeaturesNull }

// usesNull reports whether one of the two records is the null record.
func (r Relation) usesNull() bool { return r == Null || r == FeaturesNull }

func (r Relation) check() error {
	if r.valid() {
		return nil
	}
	return refuse(ErrRelation, "%v; name one, there is no default", r)
}
