package formats

import "regexp"

// The forms of numbers that parseValue refuses for their commas and other marks between
// digits. The texts below are the ends of messages and show nothing of the file.
var (
	exponent       = `([eE][+-]?[0-9]+)?$`
	decimalComma   = regexp.MustCompile(`^[+-]?([0-9]*,[0-9]+|[0-9]+,)` + exponent)
	oneGroup       = regexp.MustCompile(`^[+-]?[1-9][0-9]{0,2},[0-9]{3}$`)
	groupsByComma  = regexp.MustCompile(`^[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?` + exponent)
	groupsByPoint  = regexp.MustCompile(`^[+-]?[0-9]{1,3}((\.[0-9]{3})+,[0-9]*|(\.[0-9]{3}){2,})` + exponent)
	groupsByOthers = regexp.MustCompile(`^[+-]?[0-9]{1,3}(([ '_\x{2019}\x{00a0}\x{202f}\x{2009}])[0-9]{3})+([.,][0-9]*)?` + exponent)
)

// looksNumeric says why a field is not accepted as a number although people write
// numbers like that. It returns "" for other fields.
func looksNumeric(field []byte) string {
	switch {
	case len(field) > 64:
		return ""
	case oneGroup.Match(field):
		return "has a comma in a number, which may be a decimal comma or separate thousands; write decimals with a point, and nothing between thousands"
	case groupsByComma.Match(field) && !decimalComma.Match(field), groupsByPoint.Match(field), groupsByOthers.Match(field):
		return "has thousands separators in a number; remove them, and write decimals with a point"
	case decimalComma.Match(field):
		return "has a decimal comma in a number; write decimals with a point"
	}
	return ""
}
