//go:build !amd64

package literal

func (s *stream) threePairs(src []byte, pairs *[1 << 16]uint32) []byte {
	return s.threePairsGo(src, pairs)
}
