#include "textflag.h"

// func threePairsBMI2(out, src *byte, bytes int, pairs *pairs, bits, n uint64) (left, written int, bitsLeft, nLeft uint64)
TEXT ·threePairsBMI2(SB), NOSPLIT, $0-80
	MOVQ out+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ bytes+16(FP), CX
	MOVQ pairs+24(FP), R8
	MOVQ DI, BX
	MOVQ bits+32(FP), AX
	MOVQ n+40(FP), DX

loop:
	CMPQ    CX, $8
	JLT     done
	MOVQ    -8(SI)(CX*1), R10
	PREFETCHT0 -1024(SI)(CX*1) // a page that was filled little by little is not in the cache
	MOVQ    R10, R11
	MOVQ    R10, R12
	SHRQ    $48, R11
	SHRQ    $32, R12
	SHRQ    $16, R10
	MOVWLZX R12, R12
	MOVWLZX R10, R10
	MOVL    (R8)(R11*4), R11 // the forms: last pair,
	MOVL    (R8)(R12*4), R12 // the one before,
	MOVL    (R8)(R10*4), R10 // and before
	MOVL    R11, R9
	ANDL    R12, R9
	ANDL    R10, R9
	TESTL   $0x80, R9        // all have a code
	JEQ     done
	SUBQ    $6, CX
	MOVL    R11, R13
	MOVL    R12, R14
	MOVL    R10, R15
	SHRL    $8, R13
	SHRL    $8, R14
	SHRL    $8, R15
	SHLXQ   R11, R14, R14    // shifts take the low six bits, the length
	ADDL    R12, R11
	SHLXQ   R11, R15, R15
	ADDL    R10, R11
	ORQ     R14, R13
	ORQ     R15, R13
	SHLXQ   DX, R13, R13
	ORQ     R13, AX
	MOVQ    AX, (DI)
	ADDL    R11, DX
	ANDL    $63, DX
	MOVL    DX, R14
	MOVL    DX, R15
	SHRL    $3, R14
	ANDL    $56, R15
	ADDQ    R14, DI
	SHRXQ   R15, AX, AX
	ANDL    $7, DX
	JMP     loop

done:
	SUBQ BX, DI
	MOVQ CX, left+48(FP)
	MOVQ DI, written+56(FP)
	MOVQ AX, bitsLeft+64(FP)
	MOVQ DX, nLeft+72(FP)
	RET
