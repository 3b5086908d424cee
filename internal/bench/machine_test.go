package bench

import "testing"

func TestReadMachine(t *testing.T) {
	m := ReadMachine()
	if m.Cores < 1 || m.OS == "" || m.Go == "" {
		t.Errorf("%+v", m)
	}
	if load := ReadLoad(); load != nil && *load < 0 {
		t.Errorf("load %v", *load)
	}
}

func TestProcField(t *testing.T) {
	text := "processor\t: 0\nmodel name\t: AMD EPYC: Milan\nmodel name\t: another\nempty\t:\nno colon\n"
	for name, want := range map[string]string{
		"model name": "AMD EPYC: Milan", "processor": "0", "empty": "", "no colon": "", "model": "",
	} {
		if got := procField(text, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
