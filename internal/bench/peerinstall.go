package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// jarFolder is where the jars are in the folder of a pom. Kafka Connect takes each folder in a folder for a plugin.
const jarFolder = "lib"

// install fetches the rival's jars, unless they are in the cache, and sees that Java is there.
func (p *peer) install(ctx context.Context) error {
	if err := followable(); err != nil {
		return err
	}
	for _, tool := range []string{javaTool("java"), javaTool("javac")} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("it needs Java 17 or newer with its compiler: %w", err)
		}
	}
	p.jars = map[string]string{}
	for _, pom := range p.poms {
		folder, err := fetchJars(ctx, pom)
		if err != nil {
			return err
		}
		p.jars[pom] = folder
	}
	return nil
}

// fetchJars copies what a pom depends on into a folder of the cache that is named after the pom and its text. It
// appears whole or not at all.
func fetchJars(ctx context.Context, pom string) (string, error) {
	text, err := peerSources.ReadFile("peers/" + pom + ".pom.xml")
	if err != nil {
		return "", fmt.Errorf("reading a pom: %w", err)
	}
	cache, err := peerCache()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	folder := filepath.Join(cache, "peer-"+pom+"-"+hex.EncodeToString(sum[:4]))
	if _, err := os.Stat(folder); err == nil {
		return folder, nil // renamed when it was whole
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		return "", fmt.Errorf("its jars need mvn the first time: %w", err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("making the cache: %w", err)
	}
	part, err := os.MkdirTemp(cache, "part-")
	if err != nil {
		return "", fmt.Errorf("making a folder for jars: %w", err)
	}
	err = resolve(ctx, part, text)
	if err == nil {
		err = os.Rename(part, folder)
	}
	if errors.Is(err, fs.ErrExist) { // another process was first
		err = nil
	}
	return folder, errors.Join(err, os.RemoveAll(part))
}

// resolve has Maven copy jars into a folder.
func resolve(ctx context.Context, folder string, pom []byte) error {
	path := filepath.Join(folder, "pom.xml")
	if err := os.WriteFile(path, pom, 0o600); err != nil {
		return fmt.Errorf("writing a pom: %w", err)
	}
	return runTool(ctx, "mvn", "-q", "-B", "-f", path,
		"org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies", "-DincludeScope=runtime",
		"-DoutputDirectory="+filepath.Join(folder, jarFolder))
}

// runTool runs a program to its end. What it said is in the error.
func runTool(ctx context.Context, name string, arguments ...string) error {
	//nolint:gosec // the program is Maven or Java
	said, err := exec.CommandContext(ctx, name, arguments...).CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t := tail{}
	_, _ = t.Write(bytes.TrimSpace(said))
	return fmt.Errorf("%s: %w; it said: %s", filepath.Base(name), err, t.text)
}

// writeSources writes the rivals' programs into a folder, and returns the paths of those of the names.
func writeSources(folder string, names ...string) ([]string, error) {
	var paths []string
	for _, name := range names {
		text, err := peerSources.ReadFile("peers/" + name)
		if err != nil {
			return nil, fmt.Errorf("reading a program of a rival: %w", err)
		}
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return nil, fmt.Errorf("writing a program of a rival: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
