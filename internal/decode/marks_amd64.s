#include "textflag.h"

// The bytes '"', '\\' and 0x1f, the last control character.
DATA special<>+0(SB)/4, $0x001f5c22
GLOBL special<>(SB), RODATA|NOPTR, $4

// func markAVX2(marks *uint64, p *byte, n int) (high uint32)
//
// DI marks, SI text, CX blocks of 64 bytes left; Y4 Y5 Y6 the special bytes, Y7 all bytes seen (bit 7 is what counts).
TEXT ·markAVX2(SB), NOSPLIT, $0-28
	MOVQ         marks+0(FP), DI
	MOVQ         p+8(FP), SI
	MOVQ         n+16(FP), CX
	VPXOR        Y7, Y7, Y7
	VPBROADCASTB special<>+0(SB), Y4
	VPBROADCASTB special<>+1(SB), Y5
	VPBROADCASTB special<>+2(SB), Y6

block:
	VMOVDQU   (SI), Y0
	VMOVDQU   32(SI), Y1
	VPCMPEQB  Y0, Y4, Y2
	VPCMPEQB  Y1, Y4, Y3
	VPCMPEQB  Y0, Y5, Y8
	VPCMPEQB  Y1, Y5, Y9
	VPMINUB   Y0, Y6, Y10 // min(x, 0x1f) == x: a control character
	VPMINUB   Y1, Y6, Y11
	VPCMPEQB  Y0, Y10, Y10
	VPCMPEQB  Y1, Y11, Y11
	VPOR      Y2, Y8, Y2
	VPOR      Y3, Y9, Y3
	VPOR      Y2, Y10, Y2
	VPOR      Y3, Y11, Y3
	VPOR      Y0, Y7, Y7
	VPOR      Y1, Y7, Y7
	VPMOVMSKB Y2, AX
	VPMOVMSKB Y3, DX
	SHLQ      $32, DX
	ORQ       DX, AX
	MOVQ      AX, (DI)
	ADDQ      $64, SI
	ADDQ      $8, DI
	DECQ      CX
	JNZ       block

	VPMOVMSKB Y7, AX
	VZEROUPPER
	MOVL AX, high+24(FP)
	RET
