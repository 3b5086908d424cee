#include "textflag.h"

// The bytes '"', '\\' and 0x1f, the last control character.
DATA special<>+0(SB)/4, $0x001f5c22
GLOBL special<>(SB), RODATA|NOPTR, $4

// func scanAVX2(p *byte, n int) (i int, high uint32)
//
// SI text, CX blocks left, AX index; Y4 Y5 Y6 the special bytes, Y7 all bytes seen (bit 7 is what counts).
TEXT ·scanAVX2(SB), NOSPLIT, $0-28
	MOVQ         p+0(FP), SI
	MOVQ         n+8(FP), CX
	SHRQ         $5, CX
	XORL         AX, AX
	VPXOR        Y7, Y7, Y7
	VPBROADCASTB special<>+0(SB), Y4
	VPBROADCASTB special<>+1(SB), Y5
	VPBROADCASTB special<>+2(SB), Y6

block:
	VMOVDQU   (SI)(AX*1), Y0
	VPCMPEQB  Y0, Y4, Y1
	VPCMPEQB  Y0, Y5, Y2
	VPMINUB   Y0, Y6, Y3 // min(x, 0x1f) == x: a control character
	VPCMPEQB  Y0, Y3, Y3
	VPOR      Y1, Y2, Y1
	VPOR      Y1, Y3, Y1
	VPMOVMSKB Y1, DX
	TESTL     DX, DX
	JNZ       found
	VPOR      Y0, Y7, Y7
	ADDQ      $32, AX
	DECQ      CX
	JNZ       block
	VPMOVMSKB Y7, BX
	JMP       done

found:
	// Of this block, only the bytes before the special one count.
	BSFL      DX, CX
	VPMOVMSKB Y0, R8
	MOVL      $1, R9
	SHLL      CX, R9
	DECL      R9
	ANDL      R9, R8
	VPMOVMSKB Y7, BX
	ORL       R8, BX
	ADDQ      CX, AX

done:
	VZEROUPPER
	MOVQ AX, i+16(FP)
	MOVL BX, high+24(FP)
	RET
