package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// envRace asks for a program with the race detector when it is set. Such a program takes minutes to build.
const envRace = "FIRN_E2E_RACE"

// BuildFirn gives the path of the program, which is built once in a run of the tests. Main removes it.
func BuildFirn(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Main runs the tests of a package that uses BuildFirn, for its TestMain, and gives the exit code.
func Main(m *testing.M) int {
	defer func() { _ = os.RemoveAll(folder()) }() // what is left in the folder for temporary files does no harm
	return m.Run()
}

var built = sync.OnceValues(build)

// folder is where this process builds.
func folder() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("firn-e2e-%d", os.Getpid()))
}

func build() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder(), "firn")
	args := []string{"build", "-o", path}
	if os.Getenv(envRace) != "" {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "./cmd/firn")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building cmd/firn: %w\n%s", err, out)
	}
	return path, nil
}

// moduleRoot is the folder above the one that this file was compiled in.
func moduleRoot() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	root := filepath.Dir(filepath.Dir(file))
	if _, err := os.Stat(filepath.Join(root, "go.mod")); !ok || err != nil {
		return "", fmt.Errorf("the sources are not at %s, where this test was compiled (with -trimpath?): %w", root, err)
	}
	return root, nil
}
