//go:build !amd64

package literal

func (s *stream) threePairs(src []byte, pairs *pairs) []byte {
	return s.threePairsGo(src, pairs)
}
