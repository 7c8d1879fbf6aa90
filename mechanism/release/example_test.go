package release_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

func ExampleRead() {
	file, err := os.Open("testdata/release.json") // release.bin holds the same
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	r, err := release.Read(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d x %d, epsilon %g, delta %g, %s\n", r.Rows, r.Columns, r.Privacy.Epsilon, r.Privacy.Delta, r.Sensitivity.Relation)
	fmt.Printf("noise of %.4f on each entry, %s labels\n", r.Privacy.Sigma, r.Labels.Mode)
	fmt.Printf("first row without Q: %.4g\n", r.Displacement().RawRowView(0))
	// Output:
	// 5 x 2, epsilon 1, delta 1e-05, replace-one
	// noise of 4.6633 on each entry, randomised labels
	// first row without Q: [0 3.638e-12]
}

func ExampleRead_edited() {
	text, err := os.ReadFile("testdata/release.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	edited := strings.Replace(string(text), `"epsilon":0.5,`, `"epsilon":0.1,`, 1)
	_, err = release.Read(strings.NewReader(edited))
	fmt.Println(errors.Is(err, release.ErrRelease))
	fmt.Println(err)
	// Output:
	// true
	// release: checksum does not match: the text was changed
}

func ExampleDeclare() {
	labels, err := release.Declare([]int32{0, 1, 1, 2}, 3)
	fmt.Println(labels.Len(), labels.Classes(), err)
	_, err = release.Declare([]int32{0, 1, 1, 3}, 3)
	fmt.Println(err)
	// Output:
	// 4 3 <nil>
	// release: labels not usable: row 4: want 0 to 2
}
