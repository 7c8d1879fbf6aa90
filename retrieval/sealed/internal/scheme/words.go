package scheme

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// FillWords sets dst to words of the key stream of AES in counter mode, whose counter begins at
// first. Words are little-endian, four of them a block.
func FillWords(dst []uint32, block cipher.Block, first uint64) {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], first)
	stream := cipher.NewCTR(block, counter[:])
	var piece [8 << 10]byte
	for len(dst) > 0 {
		n := min(len(dst), len(piece)/4)
		clear(piece[:4*n])
		stream.XORKeyStream(piece[:4*n], piece[:4*n])
		for i := range dst[:n] {
			dst[i] = binary.LittleEndian.Uint32(piece[4*i:])
		}
		dst = dst[n:]
	}
	clear(piece[:]) // the stream may be a secret
}
