package evaluate

import "maps"

// randomRecall returns what is expected of R@k when the answers are k rows, or all,
// drawn at random from the gallery for each query: the mean over the queries of
//
//	1 - (n-m)/n (n-m-1)/(n-1) .. (n-m-k+1)/(n-k+1)
//
// with n the number of rows of the gallery and m that of the rows of the query's class.
func randomRecall(queryLabels, galleryLabels []int32, k int) float64 {
	members := make(map[int32]int)
	for _, class := range galleryLabels {
		members[class]++
	}
	n, sum := len(galleryLabels), 0.0
	for _, class := range queryLabels {
		miss := 1.0
		for i := range min(k, n) {
			miss *= float64(max(n-members[class]-i, 0)) / float64(n-i)
		}
		sum += 1 - miss
	}
	return sum / float64(len(queryLabels))
}

// withRandomRows returns the figures, and those of random rows next to them.
func withRandomRows(figures map[Metric]float64, queryLabels, galleryLabels []int32) map[Metric]float64 {
	all := maps.Clone(figures)
	all[RandomRecall1] = randomRecall(queryLabels, galleryLabels, 1)
	all[RandomRecall8] = randomRecall(queryLabels, galleryLabels, ListLength)
	return all
}
