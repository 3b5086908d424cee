package bench

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// Machine is what a figure was measured on. What the system does not say is empty.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Memory string `json:"memory"`
	OS     string `json:"os"`
	Go     string `json:"go"`
}

// String describes the machine in a line.
func (m Machine) String() string {
	text := fmt.Sprintf("%s, %d cores, %s, %s, %s", m.CPU, m.Cores, m.Memory, m.OS, m.Go)
	return strings.TrimPrefix(text, ", ")
}

// ReadMachine looks at this machine. Beyond what Go knows it reads Linux's /proc.
func ReadMachine() Machine {
	system := runtime.GOOS + "/" + runtime.GOARCH
	if release := readProc("/proc/sys/kernel/osrelease"); release != "" {
		system += " " + strings.TrimSpace(release)
	}
	m := Machine{Cores: runtime.NumCPU(), OS: system, Go: runtime.Version()}
	m.CPU = procField(readProc("/proc/cpuinfo"), "model name")
	if kb, ok := strings.CutSuffix(procField(readProc("/proc/meminfo"), "MemTotal"), " kB"); ok {
		if n, err := strconv.ParseUint(kb, 10, 64); err == nil {
			m.Memory = humanize.Bytes(n * 1024)
		}
	}
	return m
}

// ReadLoad is the load average of the last minute, or nil where the system does not say.
func ReadLoad() *float64 {
	first, _, _ := strings.Cut(readProc("/proc/loadavg"), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return nil
	}
	return &load
}

// readProc is the text of a file of /proc, empty where there is none.
func readProc(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// procField is the value of the first line "name : value".
func procField(text, name string) string {
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
