#include "textflag.h"

// func Bytes(b []byte)
TEXT ·Bytes(SB), NOSPLIT, $0-24
	MOVQ b_base+0(FP), AX
	MOVQ b_len+8(FP), CX
	ADDQ AX, CX

line:
	CMPQ       AX, CX
	JGE        end
	PREFETCHT0 (AX)
	ADDQ       $64, AX
	JMP        line

end:
	RET
