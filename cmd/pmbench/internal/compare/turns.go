package compare

import "fmt"

// toldSlowdown is what ab takes more turns to find, or to rule out.
const toldSlowdown = 1.0 / 3

// wantsMore returns why the verdict on metrics that were compared after some turns is open,
// nothing where it is not: one that is worse ends the comparison. Where the time of a case
// cannot tell its processor time does.
func wantsMore(all []*comparison) (why string) {
	told := map[*comparison]bool{}
	for c, time := range besideTime(all) {
		told[time] = !c.Likely && c.most <= toldSlowdown
	}
	for _, c := range all {
		switch {
		case c.Worse:
			return ""
		case why != "" || told[c]:
		case c.Likely:
			why = fmt.Sprintf("%s %s is likely worse", c.Case, c.Metric)
		case c.Unclear != "" && c.most > toldSlowdown:
			why = fmt.Sprintf("%s %s could be worse by a third", c.Case, c.Metric)
		}
	}
	return why
}
