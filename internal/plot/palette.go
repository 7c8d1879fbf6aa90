package plot

import (
	"fmt"
	"image/color"
	"math"
)

// A theme has the colours of a picture.
type theme struct {
	paper, ink, soft, line, none color.RGBA
	hues                         [fewClasses]color.RGBA
	lightness                    [3]float64 // of the colours of many classes
	chroma                       float64
	ramp                         [2]float64 // lightness of the first and the last band
}

// fewClasses is the most classes with colours and shapes that are easy to distinguish.
const fewClasses = 12

func hex(s string) (c color.RGBA) {
	fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B) // constants of this file
	c.A = 255
	return c
}

func hexes(s ...string) (out [fewClasses]color.RGBA) {
	for i := range out {
		out[i] = hex(s[i])
	}
	return out
}

// light and dark have the colours of all pictures and pages: the muted and light
// schemes of Tol (2021), which stay apart under the common colour vision deficiencies.
func light() *theme {
	return &theme{
		paper: hex("#ffffff"), ink: hex("#22272e"), soft: hex("#5b6570"), line: hex("#d9dee3"), none: hex("#b9c0c8"),
		hues: hexes("#332288", "#cc6677", "#117733", "#c9a227", "#4a9fd0", "#882255",
			"#44aa99", "#999933", "#aa4499", "#d9702f", "#5f6b7a", "#661100"),
		lightness: [3]float64{0.6, 0.75, 0.47}, chroma: 0.15, ramp: [2]float64{0.38, 0.8},
	}
}

func dark() *theme {
	return &theme{
		paper: hex("#1b2026"), ink: hex("#e6e9ec"), soft: hex("#aab3bc"), line: hex("#3a424b"), none: hex("#69737e"),
		hues: hexes("#8f9bff", "#ee8899", "#5cc07a", "#eedd88", "#77ccff", "#e08ab8",
			"#66d3c0", "#cccc55", "#d58bd0", "#ffa366", "#b4bfcc", "#d9977f"),
		lightness: [3]float64{0.72, 0.86, 0.6}, chroma: 0.13, ramp: [2]float64{0.48, 0.9},
	}
}

// few returns the colour of a class at a place among few; a negative place means no
// class.
func (t *theme) few(place int) color.RGBA {
	if place < 0 {
		return t.none
	}
	return t.hues[place]
}

// many returns the colour of one of many classes, by its turn around the middle of the
// picture. Hues go around once, and three lightnesses alternate.
func (t *theme) many(turn, classes int) color.RGBA {
	return oklch(t.lightness[turn%len(t.lightness)], t.chroma, 2*math.Pi*float64(turn)/float64(classes))
}

// band returns a colour of the scale from violet over blue and green to yellow, darkest
// first, so that it can be read without colour.
func (t *theme) band(place int) color.RGBA {
	part := float64(place) / (bands - 1)
	return oklch(t.ramp[0]+(t.ramp[1]-t.ramp[0])*part, t.chroma, (300-195*part)*math.Pi/180)
}

// oklch converts from lightness, chroma and hue (Ottosson, "A perceptual color space for
// image processing", 2020) to sRGB, with less chroma if sRGB lacks the colour.
func oklch(l, c, h float64) color.RGBA {
	for ; ; c *= 0.9 {
		a, b := c*math.Cos(h), c*math.Sin(h)
		x, y, z := l+0.3963377774*a+0.2158037573*b, l-0.1055613458*a-0.0638541728*b, l-0.0894841775*a-1.2914855480*b
		x, y, z = x*x*x, y*y*y, z*z*z
		red := 4.0767416621*x - 3.3077115913*y + 0.2309699292*z
		green := -1.2684380046*x + 2.6097574011*y - 0.3413193965*z
		blue := -0.0041960863*x - 0.7034186147*y + 1.7076147010*z
		if c < 1e-3 || min(red, green, blue) >= 0 && max(red, green, blue) <= 1 {
			return color.RGBA{gamma(red), gamma(green), gamma(blue), 255}
		}
	}
}

// gamma encodes a linear intensity as sRGB does.
func gamma(v float64) uint8 {
	v = min(max(v, 0), 1)
	if v <= 0.0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return uint8(math.Round(255 * v))
}
