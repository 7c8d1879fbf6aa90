package baseline

// quadtree holds points of the plane in squares that are cut in four until a
// point is alone. It sums the repulsion of t-SNE over whole squares where they
// are far away.
type quadtree struct {
	squares []square
}

type point struct{ x, y float64 }

// square is a node: a leaf with mass points at one place, or four children that
// stand next to each other.
type square struct {
	middle point
	half   float64 // half of its side
	sum    point   // of its points
	mean   point   // sum/mass, once the tree is built
	mass   float64
	first  int32 // place of the children, 0 for a leaf: the root is no child
}

// maxDepth ends the cutting where points coincide or nearly so: 2^-48 of the
// side of the root.
const maxDepth = 48

// build makes the tree of the points, reusing its memory.
func (t *quadtree) build(points []point) {
	lo, hi := points[0], points[0]
	for _, p := range points {
		lo.x, lo.y = min(lo.x, p.x), min(lo.y, p.y)
		hi.x, hi.y = max(hi.x, p.x), max(hi.y, p.y)
	}
	half := max(hi.x-lo.x, hi.y-lo.y)/2*(1+1e-9) + 1e-300
	t.squares = append(t.squares[:0], square{middle: point{(lo.x + hi.x) / 2, (lo.y + hi.y) / 2}, half: half})
	for _, p := range points {
		t.insert(p)
	}
	for i := range t.squares {
		if s := &t.squares[i]; s.mass > 0 {
			s.mean = point{s.sum.x / s.mass, s.sum.y / s.mass}
		}
	}
}

func (t *quadtree) insert(p point) {
	at := int32(0)
	for depth := 0; ; depth++ {
		s := &t.squares[at]
		if s.first == 0 {
			if s.mass == 0 || depth == maxDepth || s.sum == (point{p.x * s.mass, p.y * s.mass}) {
				s.add(p, 1)
				return
			}
			t.cut(at)
			s = &t.squares[at] // cut may have moved it
		}
		s.add(p, 1)
		at = s.first + s.quarter(p)
	}
}

func (s *square) add(p point, mass float64) {
	s.sum.x += p.x
	s.sum.y += p.y
	s.mass += mass
}

// quarter returns which child a point belongs to.
func (s *square) quarter(p point) (i int32) {
	if p.x >= s.middle.x {
		i = 1
	}
	if p.y >= s.middle.y {
		i += 2
	}
	return i
}

// cut gives a leaf four children and hands its points, which are at one place,
// to one of them.
func (t *quadtree) cut(at int32) {
	s := t.squares[at]
	first := int32(len(t.squares))
	h := s.half / 2
	for i := range 4 {
		m := s.middle
		m.x += h * float64(2*(i&1)-1)
		m.y += h * float64(2*(i>>1)-1)
		t.squares = append(t.squares, square{middle: m, half: h})
	}
	t.squares[at].first = first
	child := &t.squares[first+s.quarter(point{s.sum.x / s.mass, s.sum.y / s.mass})]
	child.sum, child.mass = s.sum, s.mass
}

// repulsion returns, for the t-kernel w = 1/(1 + d^2) between p and the points
// of the tree, the sums of w and of w^2 times the difference. A square of side s
// at distance d counts as one point when s < theta d; theta = 0 is exact.
func (t *quadtree) repulsion(p point, theta float64, stack []int32) (weight float64, force point, _ []int32) {
	stack = append(stack[:0], 0)
	for len(stack) > 0 {
		s := &t.squares[stack[len(stack)-1]]
		stack = stack[:len(stack)-1]
		if s.mass == 0 {
			continue
		}
		dx, dy := p.x-s.mean.x, p.y-s.mean.y
		d2 := float64(dx*dx) + float64(dy*dy)
		if side := 2 * s.half; s.first == 0 || float64(side*side) < theta*theta*d2 {
			w := 1 / (1 + d2)
			m := s.mass * w
			weight += m
			m *= w
			force.x += float64(m * dx)
			force.y += float64(m * dy)
			continue
		}
		stack = append(stack, s.first, s.first+1, s.first+2, s.first+3)
	}
	return weight, force, stack
}
