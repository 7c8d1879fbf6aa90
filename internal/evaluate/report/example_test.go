package report_test

import (
	"log"
	"os"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
)

// Two modes of a sweep as lines of a table. Figures that do not apply are empty.
func ExampleWriteCSV() {
	record := func(mode string, epsilon, precision float64) evaluate.Record {
		return evaluate.Record{
			Cell:  evaluate.Cell{Data: "digits", Mode: mode, Seed: 1, Params: evaluate.Params{Epsilon: epsilon}},
			Asked: 397, Classes: 10, Gallery: 1000, Figures: map[evaluate.Metric]float64{evaluate.PrecisionAt8: precision},
		}
	}
	if err := report.WriteCSV(os.Stdout, []evaluate.Record{record("raw", 0, 0.94), record("cells", 4, 0.75)}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// data,mode,seed,epsilon,delta,k,alpha,sigma,steps,queries,classes,gallery,R@1,R@8,P@8,mAP@100,overlap@8,no query R@1,no query R@8,no query overlap@8,int8 R@1,int8 R@8,int8 overlap@8,wrong class@8,random rows R@1,random rows R@8,download rows,base rows,bytes a query,bytes once,int8 bytes a query,int8 bytes once,all rows bytes once,sealed bytes up,sealed bytes down,sealed bytes once,sealed server seconds,seconds,key,unavailable
	// digits,raw,1,0,0,0,0,0,0,397,10,1000,,,0.94,,,,,,,,,,,,0,0,0,0,0,0,0,0,0,0,0,0.000,,
	// digits,cells,1,4,0,0,0,0,0,397,10,1000,,,0.75,,,,,,,,,,,,0,0,0,0,0,0,0,0,0,0,0,0.000,,
}
