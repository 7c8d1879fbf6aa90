package plot

import "math"

// shapes are the outlines of markers around (0, 0), of about equal area, so that few
// classes differ even without colour. The first is a disc, which has no corners.
var shapes = [][]Point{
	nil,
	polygon(4, 1.2, math.Pi/4),  // square
	polygon(3, 1.45, math.Pi/2), // triangle
	polygon(4, 1.3, 0),          // diamond
	cross(1.35, 0.48),
	polygon(3, 1.45, -math.Pi/2), // triangle, point down
}

// polygon returns the corners of a regular polygon, the first at the given angle.
func polygon(corners int, radius, angle float64) []Point {
	out := make([]Point, corners)
	for i := range out {
		a := angle + 2*math.Pi*float64(i)/float64(corners)
		out[i] = Point{radius * math.Cos(a), -radius * math.Sin(a)}
	}
	return out
}

// cross returns a plus sign with arms of a length and half a width.
func cross(r, w float64) []Point {
	return []Point{{-w, -r}, {w, -r}, {w, -w}, {r, -w}, {r, w}, {w, w}, {w, r}, {-w, r}, {-w, w}, {-r, w}, {-r, -w}, {-w, -w}}
}

// shapeOf returns the shape of the class at a place. If there are many classes, and for
// rows without a class, it is a disc.
func shapeOf(place, classes int) int {
	if place < 0 || classes > fewClasses {
		return 0
	}
	return place % len(shapes)
}
