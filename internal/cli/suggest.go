package cli

import "strings"

// DidYouMean returns a question with the known word nearest to a mistyped one, after
// the prefix, or "" when no word is near: when more than a third of the letters are wrong.
func DidYouMean(word string, known []string, prefix string) string {
	best, least := "", len(word)+1
	for _, k := range known {
		d := typingErrors(strings.ToLower(word), strings.ToLower(k))
		near := d <= min(len(word), len(k))/3
		if len(word) >= 2 && strings.HasPrefix(k, word) {
			d, near = min(d, 1), true
		}
		if near && d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + prefix + best + "?)"
}

// typingErrors counts the letters that must be inserted, dropped, replaced or swapped
// with their neighbour to get from a to b (optimal string alignment).
func typingErrors(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
