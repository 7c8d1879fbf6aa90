package scheme

// MaxError is the largest size of an error.
const MaxError = 59

// errorTable is the law of errors: entry j is the chance that an error is at most j in size, in
// units of 2^-63. It rounds what a Gaussian of standard deviation Deviation gives when it is
// rounded to whole numbers; the table is what counts, not the Gaussian. A test computes it again.
var errorTable = [MaxError]uint64{
	0x07f882307a2351c2, 0x17b81c86279a0493, 0x26e7085a6b4e482e, 0x3530437a6e027aa6,
	0x424e8cb8da802e11, 0x4e1019ad219d0ff2, 0x5858362c44a3a432, 0x611ecf6d134563d8,
	0x686e346f1427a81a, 0x6e5f894b68b59b55, 0x731684cd104b1d68, 0x76bd0e5b415d5088,
	0x797f3a92583fb828, 0x7b87ff06496e96e0, 0x7cfecada9f7de122, 0x7e060a59836975f4,
	0x7eba7d32e7298dd0, 0x7f33343080ab1faa, 0x7f8203c3fa325d18, 0x7fb43ab2f16a7a73,
	0x7fd3741c34b0dcd5, 0x7fe666e79ce31bf1, 0x7ff19fbf9677a3d4, 0x7ff81c365cdc5ee5,
	0x7ffbc4d6162026fe, 0x7ffdc871a3825cfc, 0x7ffedd73959f7661, 0x7fff6eb0af52f167,
	0x7fffb901f6aee5ca, 0x7fffde1eb737e2e6, 0x7ffff034f37e63f4, 0x7ffff8cf3307ccc4,
	0x7ffffccd6d3cf7d2, 0x7ffffe9c7f313ed9, 0x7fffff6937f6d384, 0x7fffffc18bf95d2e,
	0x7fffffe6bd2fb80c, 0x7ffffff605c419b4, 0x7ffffffc26deea7c, 0x7ffffffe8cff85a0,
	0x7fffffff7792dad4, 0x7fffffffcf043d41, 0x7fffffffeed3fb9b, 0x7ffffffffa1f561c,
	0x7ffffffffe092ba6, 0x7fffffffff5bf15e, 0x7fffffffffcbbde2, 0x7fffffffffefbf9e,
	0x7ffffffffffb10e3, 0x7ffffffffffe899e, 0x7fffffffffff93ab, 0x7fffffffffffe166,
	0x7ffffffffffff790, 0x7ffffffffffffdba, 0x7fffffffffffff67, 0x7fffffffffffffd9,
	0x7ffffffffffffff6, 0x7ffffffffffffffe, 0x7fffffffffffffff,
}

// ErrorTable returns the law of the errors of ciphertexts. The chance that an error is at most
// j in size is entry j times 2^-63, and both signs are equally likely. An error is drawn from a
// 64-bit word w: its size is the number of entries that are at most w >> 1, and its sign the
// lowest bit of w.
func ErrorTable() [MaxError]uint64 { return errorTable }
