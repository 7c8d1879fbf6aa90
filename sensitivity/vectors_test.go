package sensitivity

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// The vectors of this file were computed with 50 digits from the formulas of
// the package documentation. They hold before the final factor.

const vectorTolerance = 1e-9

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= vectorTolerance*math.Abs(want)) {
		t.Errorf("%s: got %.13g, want %.13g (off by %.2g)", what, got, want, got/want-1)
	}
}

var undefined = math.NaN()

var scalarVectors = []struct {
	n              int
	alpha, sigma   float64
	c              int
	mii, mij, m    float64
	mcorr          float64
	f, s, ds, rmax float64
	paper, frob    float64
	a, b, cn, cr   float64
}{
	{1, 0.6, 6, 97, 0.136765252297, 4.34663937988, 4.48340463218, 4.44846166583, 1.5, 1.5, 0.75, 1, 4.75536872732, 2.23707831201, 0.847506524065, 0.884272380234, 0.0573071750942, 0.0823543347308},
	{2, 0.6, 6, 97, 0.653300992709, 1.03295633707, 2.71921366684, 2.68856069945, 2, 1.5, 1.25, 1.25, 4.70981622760, 2.84001445390, 0.786827861005, 0.814006405174, 0.0594077462421, 0.0857909131916},
	{3, 0.6, 6, 97, 0.743954523246, 0.451514646853, 2.09849846381, 2.07478664643, 2.5, 2, 1.5, 1.5, 5.24624615951, 3.60102992770, 0.810390697385, 0.834319377038, 0.0584206132188, 0.0859439448735},
	{10, 0.6, 6, 97, 0.803215817963, 0.0397085249167, 1.20030106713, 1.19174541903, 4.5, 3.5, 2.5, 2.5, 8.95713361905, 8.14649145475, 0.973690085960, 0.991657529316, 0.0586638425243, 0.0872388744796},
	{10, 0.6, 1, 9, 189.808110111, 12.2867886190, 312.675996301, 51.6958661068, 4.5, 3.5, 2.5, 2.5, 2333.31516153, 53.6545761685, 9.95706164299, 12.9669561238, 7.86417069874, 10.7859399948},
	{5, 0.6, 1, 9, undefined, undefined, undefined, 61.9387200319, 3.25, 2.5, 2, 2, undefined, 31.3263722047, 9.67926690497, 12.7161646557, 7.71966105388, 10.1453957569},
	{50, 0.6, 6, 97, 0.805481284888, 0.00157589681585, 0.884276125680, 0.882463157812, 10, 7.5, 3, 3, 31.5749733131, 33.5431144381, 1.04555725007, 1.06082870808, 0.0577735513044, 0.0862794243463},
	{50, 0.5, 5, 195, 0.587787072867, 0.00143476791123, 0.659525468428, 0.657417431025, 10, 7.5, 3, 3, 23.5497696479, 28.9518086578, 0.902553874724, 0.924563800854, 0.0741999435307, 0.112091775558},
	{50, 0.6, 2, 9, 1.99039888094, 0.00536726485063, 2.25876212347, 2.20069019989, 10, 7.5, 3, 3, 80.6539402095, 52.9705579059, 1.77058122122, 1.91965965708, 0.656048991246, 0.929099563858},
	{50, 0.6, 1, 9, 47.9931391638, 0.136311578542, 54.8087180909, 42.0672600136, 10, 7.5, 3, 3, 1957.06268753, 231.593947497, 8.92308613064, 10.9522710884, 7.05843947113, 9.54172852649},
	{50, 0.05, 6, 97, 0.00559362003394, 0.000270998452306, 0.0191435426492, 0.0190201037282, 10, 7.5, 3, 3, 0.683561198491, 4.92449309609, 0.102181198483, 0.117344761130, 0.0209876781566, 0.0368322123469},
	{50, 0.6, 20, 9, 0.141801924551, 0.000178317455133, 0.150717797308, 0.148047656691, 10, 7.5, 3, 3, 5.38170181191, 13.7390233380, 0.0989190933908, 0.101362393496, 0.00507341324990, 0.00762638762746},
	{50, 0, 6, 97, 0.0, 0.000179230307159, 0.00896151535796, 0.00885932433529, 10, 7.5, 3, 3, 0.319990102701, 3.36089847027, 0.0179333733734, 0.0325058686947, 0.0179333733734, 0.0325058686947},
	{50, 0.6, 6, 0, 0.0855706920324, 0.000379445640909, 0.104542974078, 0.102441926740, 10, 7.5, 3, 3, 3.73293083542, 11.4286244402, 0.0577735513044, 0.0862794243463, 0.0577735513044, 0.0862794243463},
	{100, 0.6, 0.5, 9, undefined, undefined, undefined, 3493811.28851, 14, 10.5, 3.25, 3.25, undefined, 131494.760606, 11374.8874637, 13267.4802305, 11311.9358004, 12958.2833284},
	{200, 1, 2, 9, 5.45950845694, 0.000527547842259, 5.56501802540, 5.52904095424, 20, 14.5, 3.5, 3.5, 788.977474344, 333.367249712, 3.16071352182, 3.29494543037, 1.07804619601, 1.45404471365},
	{200, 1.5, 6, 1, 0.654229652409, 5.52329152562e-5, 0.665276235460, 0.661751015670, 20, 14.5, 3.5, 3.5, 94.3191848793, 115.330808611, 0.171297304288, 0.223448461715, 0.132843016032, 0.185522462411},
	{1000, 0.6, 6, 97, 0.804670711391, 3.93240463541e-6, 0.808603116027, 0.808511248741, 44.75, 32, 3.75, 3.75, 572.420914711, 636.536213004, 1.24720018435, 1.26128865880, 0.0644391189523, 0.0948198222184},
	{1000, 0.6, 6, 195, 0.804670711391, 3.93240463541e-6, 0.808603116027, 0.808511248741, 44.75, 32, 3.75, 3.75, 572.420914711, 636.536213004, 1.24720018435, 1.26128865880, 0.0644391189523, 0.0948198222184},
	{1000, 0.5, 5, 195, 0.586816397346, 3.57703074596e-6, 0.590393428092, 0.590295307004, 44.75, 32, 3.75, 3.75, 417.947370533, 543.894601228, 1.07335715670, 1.09364925768, 0.0816737964969, 0.121574315464},
	{1000, 0.6, 6, 97, 0.804670711391, 3.93240463541e-6, 0.808603116027, 0.808511248741, 44.75, 32, 1.25, 3.75, 572.420914711, 636.536213004, 0.524665683861, 0.538737007668, 0.0349299712258, 0.0557429831627},
	{1001, 0.6, 6, 97, 0.804670655181, 3.92455122313e-6, 0.808599130955, 0.808507355380, 44.75, 32, 3.75, 3.75, 572.703945375, 636.852550415, 1.24715000865, 1.26123142605, 0.0644302677275, 0.0948033693568},
	{1000, 0.6, 6, 97, 0.804670711391, 3.93240463541e-6, 0.808603116027, 0.808511248741, 4.475e-7, 3.2e-7, 3.75e-8, 3.75e-8, 5.72420914711e-6, 6.36536213004e-6, 1.24720018435e-8, 1.26128865880e-8, 6.44391189523e-10, 9.48198222184e-10},
	{1000, 0.6, 3, 97, 1.12328353458, 6.70536900232e-6, 1.12998890359, 1.12942671316, 44.75, 32, 3.75, 3.75, 799.934193899, 752.331265112, 1.51354903336, 1.57008555881, 0.280289969155, 0.403361364064},
	{1000, 0.6, 50, 99, 0.707047469961, 2.77939846521e-6, 0.709826868427, 0.709652001548, 44.75, 32, 3.75, 3.75, 502.495893545, 596.352162911, 1.00324314796, 1.00347875009, 0.000903384389793, 0.00133918512117},
	{1000, 0.005, 30, 500, 5.02228064681e-5, 3.79216833259e-8, 8.81444897940e-5, 8.81352883076e-5, 1, 1, 1, 1, 0.00139438342397, 0.148512140578, 0.00252784648283, 0.00254578091274, 3.42185374601e-5, 5.38376704577e-5},
	{10000, 0.6, 6, 99, 0.804619492107, 3.93205755960e-8, 0.805012697863, 0.805003505352, 141.5, 100.5, 4.25, 4.25, 5695.74960350, 6348.14800418, 1.39911993745, 1.41308365464, 0.0704955255848, 0.102782483255},
	{1000, 0.6, 1000, 9, 6.12574003583e-5, 1.88805735745e-10, 6.14462060941e-5, 6.13849891435e-5, 44.75, 32, 3.75, 3.75, 0.0434985876269, 5.54639983681, 4.94956380286e-5, 5.05851463929e-5, 2.25758518570e-6, 3.34702709406e-6},
}

var tableVectors = []struct {
	n                                    int
	alpha, sigma, lo, hi, f, s, ds, rmax float64
	a, b, cn, cr                         float64
}{
	{50, -0.6, 6, 0, 1, 10, 7.5, 3, 3, 1.04555725007, 1.06082870808, 0.0577735513044, 0.0862794243463},
	{10, -2, 2, -1, 0.5, 4.5, 3.5, 2.5, 2.5, 7.05254907999, 7.99480727495, 1.72726705808, 2.30310377943},
	{5, 10, 1, 0.2, 0.5, 3.25, 2.5, 2, 2, 60.2687246189, 75.8311637725, 50.5306239469, 63.2667709377},
	{1, -100, 6, 0, 1, 1.5, 1.5, 0.75, 1, 139.641274466, 144.241420574, 8.22390527748, 10.8944752771},
	{1000, -0.6, 6, 0, 0.1, 44.75, 32, 3.75, 3.75, 0.137465521761, 0.151553056107, 0.0192948308429, 0.0349799662771},
	{20, 0.6, 2, -0.5, -0.1, 6, 4.5, 2, 2.5, 0.680009180809, 0.837114307441, 0.356137673866, 0.544044339082},
}

var relations = []Relation{Null, ReplaceOne, FeaturesNull, FeaturesReplace}

func TestScalarVectors(t *testing.T) {
	for i, v := range scalarVectors {
		query := Query{Operator: Full{}, Sigma: v.sigma, Alpha: v.alpha, Table: Gaussian{Classes: v.c + 1, Sigma: v.sigma}}
		in, err := newLemma(query, v.n+1)
		if err != nil {
			t.Fatal(err)
		}
		c, err := in.paper()
		if math.IsNaN(v.m) {
			if !errors.Is(err, errPaperUndefined) {
				t.Errorf("vector %d: paper constant: %v, want %v", i+1, err, errPaperUndefined)
			}
		} else {
			near(t, "Mii", c.MII, v.mii)
			near(t, "Mij", c.MIJ, v.mij)
			near(t, "M", c.M, v.m)
			near(t, "paper", 0.5*c.M*math.Sqrt(in.n+1)*v.f, v.paper)
		}
		m := in.corrected()
		near(t, "Mcorr", m, v.mcorr)
		near(t, "corrected", 0.5*math.Sqrt(m*(in.n+1))*v.f, v.frob)
		norms := Norms{Rows: v.n + 1, Frobenius: v.f, Spectral: v.s, Radius: v.rmax, Distance: v.ds}
		wantScalar(t, query, norms, [4]float64{v.a, v.b, v.cn, v.cr})
		if t.Failed() {
			t.Fatalf("vector %d", i+1)
		}
	}
}

func wantScalar(t *testing.T, query Query, norms Norms, want [4]float64) {
	t.Helper()
	for r, rel := range relations {
		b, err := query.Scalar(rel, norms)
		if err != nil {
			t.Fatal(err)
		}
		near(t, rel.String(), b.Exact()/roundUp, want[r])
	}
}

func TestTableVectors(t *testing.T) {
	for i, v := range tableVectors {
		query := Query{Operator: Full{}, Sigma: v.sigma, Alpha: v.alpha, Table: Range{v.lo, v.hi}}
		norms := Norms{Rows: v.n + 1, Frobenius: v.f, Spectral: v.s, Radius: v.rmax, Distance: v.ds}
		wantScalar(t, query, norms, [4]float64{v.a, v.b, v.cn, v.cr})
		if t.Failed() {
			t.Fatalf("vector %d", i+1)
		}
	}
}

func matrix(cols int, data ...float64) blas64.General {
	return blas64.General{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}
}

// The worked example of four rows: its private row is the last.
var (
	exampleQ      = matrix(2, 1, 0, .5, -1, -.25, .75, 2, 1)
	exampleX      = matrix(2, 1, 0, 0, 1, .6, .8, -1, 0)
	exampleLabels = []int32{0, 1, 2, 2}
	exampleQuery  = Query{Operator: Full{}, Sigma: 1, Alpha: 0.6, Table: Gaussian{Classes: 4, Sigma: 1}}
	examplePublic = Public{Row: 3, Features: matrix(2, 1, 0, 0, 1, .6, .8), Labels: []int32{0, 1, 2}, Label: 2}
)

func exampleData(query Query) *data {
	weight, _, err := query.Table.entries()
	if err != nil {
		panic(err)
	}
	return &data{
		features: slicesOf(exampleX), labels: append([]int32(nil), exampleLabels...), null: make([]bool, 4),
		alpha: query.Alpha, feature: fullKernel(query.Sigma), null2: math.Exp(-1 / (2 * query.Sigma * query.Sigma)), label: weight, q: exampleQ,
	}
}

func wantRows(t *testing.T, what string, got []float64, want ...float64) {
	t.Helper()
	for i, v := range got {
		if math.Abs(v-want[i]) > 2e-12 {
			t.Errorf("%s: value %d: got %.12f, want %.12f", what, i, v, want[i])
		}
	}
}

func TestExampleStep(t *testing.T) {
	d := exampleData(exampleQuery)
	f := d.step()
	wantRows(t, "f", f, 0.708468371910, 0.209628311582, 0.392830685500, -0.740170425453, -0.196250534625, 0.354574714058, 2.592571145479, 1.026570039070)
	wantRows(t, "null", d.change(3, record{null: true}).step(), 0.777517163090, 0.135100816469, 0.506912354517, -0.641660275749, 0.289110327953, 0.486009209960, 1.573409746437, 0.828783714407)
	near(t, "null, label 0", distance(f, d.change(3, record{null: true}).step()), 1.16777589505)
	near(t, "null, label kept", distance(f, d.change(3, record{null: true, label: 2}).step()), 0.966441006507)
	near(t, "replaced, label 0", distance(f, d.change(3, record{x: []float64{0, -1}}).step()), 0.697603901594)
	near(t, "replaced, label kept", distance(f, d.change(3, record{x: []float64{0, -1}, label: 2}).step()), 0.354668376489)

	floor := *d
	floor.feature, floor.tau = cutKernel(1, 1.2, 0), 0.5
	wantRows(t, "floor", floor.step(), 0.525867851555, 0.540455553464, -0.152806832756, -1.180665964471, -0.341498603374, 0.284011605553, 3.977078763683, 1.959037961597)
	back := *d
	m := Midpoint(1, 1.2)
	back.feature = cutKernel(1, m.Radius, m.Weight)
	wantRows(t, "background", back.step(), 0.814254153321, 0.280312647200, 0.344928911997, -0.778841735312, -0.131296140748, 0.386130272646, 2.267711978680, 0.972214902068)
	near(t, "background error", distance(f, back.step()), 0.365622404531)

	equal := exampleQuery
	equal.Alpha, equal.Table = -0.6, Equal{4}
	d = exampleData(equal)
	f = d.step()
	wantRows(t, "equal", f, 0.622293042686, 0.115120524503, 0.539148159872, -0.184164022839, 0.712837592542, 0.236960739297, 0.233313085470, 0.240142384181)
	near(t, "equal, replaced", distance(f, d.change(3, record{x: []float64{0, -1}}).step()), 0.899651898087)
	near(t, "equal, null", distance(f, d.change(3, record{null: true}).step()), 1.01725953663)
}

func TestExampleGeometry(t *testing.T) {
	g, err := newGeometry(exampleQ)
	if err != nil {
		t.Fatal(err)
	}
	up := math.Ldexp(1, g.exponent)
	near(t, "F", g.frobenius*up, 2.25693376066)
	near(t, "S", g.spectral*up, 1.80583074515)
	near(t, "d_4", g.distance[3]*up, 1.43885805415)
	near(t, "rmax", g.radius*up, 1.43885805415)
	sum, _ := g.distances(3)
	near(t, "sum", sum*up, 6.17805984691)
	near(t, "sqrt(3)|Z|_2", math.Sqrt(3)*g.zSpectral(3)*up, 5.88151662622)
	near(t, "H", new(planar).exactPlanar(g, 3)*up, 5.75543221661)
	near(t, "H used", newSearch(g, Rows{}).evaluate(3).h*up, 5.75543221661)
}

// exampleForm evaluates a form for the private row of the example with the
// bound on H_s that the vectors use.
func exampleForm(t *testing.T, rel Relation, query Query) (own, rest float64) {
	t.Helper()
	f, _, _, err := formOf(rel, query, 4)
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGeometry(exampleQ)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(g, Rows{})
	r := s.evaluate(3)
	r.h = min(r.sum, math.Sqrt(3)*r.zSpec)
	own, rest = f.row(r, s.q)
	up := math.Ldexp(1, g.exponent)
	return own * up, rest * up
}

func TestExampleBounds(t *testing.T) {
	want := []struct{ r, o, theorem1, theorem2, floor, background, equal1, equal2 float64 }{
		{9.89548759504, 13.2162253717, 8.25513912390, 2.58927167573, 23.5825149929, 3.10488633404, 8.27271794143, 1.74845878374},
		{10.8703554806, 18.9533717312, 10.9246845293, 3.34011308443, 23.5825149929, 4.27651963901, 10.9539801274, 2.29146514023},
		{7.97763602885, 10.7425235920, 6.69037535818, 1.99395576688, 21.3360647103, 1.80292106148, 6.69037535818, 1.36649261782},
		{9.70711970493, 13.6087831350, 8.35803732015, 2.55972180468, 21.3360647103, 3.00285849191, 8.35803732015, 1.84049854337},
	}
	equal, floor, back := exampleQuery, exampleQuery, exampleQuery
	equal.Alpha, equal.Table = -0.6, Equal{4}
	floor.Operator = Floor{0.5}
	back.Operator = Midpoint(1, 1.2)
	for i, rel := range relations {
		w := want[i]
		own, rest := exampleForm(t, rel, exampleQuery)
		near(t, "R_4", own, w.r)
		near(t, "O_4", rest, w.o)
		near(t, "Theorem 1", math.Hypot(own, rest)/2, w.theorem1)
		half := func(q Query) float64 { return math.Hypot(exampleForm(t, rel, q)) / 2 }
		near(t, "floor", half(floor), w.floor)
		near(t, "background", half(back), w.background)
		near(t, "equal", half(equal), w.equal1)
		for query, want := range map[*Query]float64{&exampleQuery: w.theorem2, &equal: w.equal2} {
			b, err := (*query).Known(context.Background(), rel, exampleQ, examplePublic, nil)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "Theorem 2", b.Exact()/roundUp, want)
		}
		// With H_s itself the bound is a little smaller.
		b, err := exampleQuery.Tight(rel, exampleQ, Rows{Private: []int{3}})
		if err != nil {
			t.Fatal(err)
		}
		if v := b.Exact() / w.theorem1; v >= 1 || v < 0.97 {
			t.Errorf("%v: the exact H_s changes the bound by the factor %g", rel, v)
		}
	}
}

func TestExampleKnownIntermediates(t *testing.T) {
	g, _ := newGeometry(exampleQ)
	lv, _ := Full{}.levels(1)
	weight, classes, _ := exampleQuery.Table.entries()
	x, err := examplePublic.unitRows(4)
	if err != nil {
		t.Fatal(err)
	}
	reach, _ := exampleQuery.Table.span()
	s, err := newSurroundings(context.Background(), exampleQ, g, x, examplePublic, lv, 0.6,
		entries{reach, weight, offsetsOf(exampleQuery.Table, reach, weight), classes})
	if err != nil {
		t.Fatal(err)
	}
	phi, err := s.phi(x)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Dlo/n", 1/s.lo, 0.164841153982)
	near(t, "Dhi/n", 1/s.hi, 0.914732373813)
	near(t, "between", s.between, s.lo-s.hi)
	near(t, "null and Dlo", s.nullLo, s.lo-math.Exp(0.5))
	near(t, "null and Dhi", s.nullHi, math.Exp(0.5)-s.hi)
	near(t, "Psi", math.Ldexp(phi, g.exponent), 0.620236645074)
}
