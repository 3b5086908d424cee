// Package literal makes zstd frames (RFC 8878) whose blocks hold Huffman-coded literals and no matches.
//
// Text that repeats nothing, such as random identifiers, hashes or base64, has only its alphabet to compress by. A
// search for matches costs there and finds nothing. What is left is the Huffman coding, and it is the largest part of
// what compressed output costs, so it is made fast here: two bytes are looked up at once, a code is kept from page to
// page of a column for as long as it fits, and blocks after the first of a frame use the first one's.
//
// The frames are zstd as any other: every decoder reads them.
package literal
