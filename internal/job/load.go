package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Load reads and checks the job file at path. env looks up ${NAME}, usually os.Getenv; nil has no variables. Files that
// the job names for reading (a schema, certificates, a password) are looked for beside the job file, and the job that
// is returned holds their absolute paths. The error is Faults when the file could be read.
func Load(path string, env func(string) string) (*Job, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading job file: %w", err)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding the job file's folder: %w", err)
	}
	return parse(text, path, filepath.Dir(absolute), env)
}

// Parse checks the text of a job file; name is its path, for messages and to find files beside it. The error is Faults:
// everything that is wrong, at once. Without an error the job is complete: defaults, secrets and group are filled in.
func Parse(text []byte, name string, env func(string) string) (*Job, error) {
	return parse(text, name, filepath.Dir(name), env)
}

func parse(text []byte, name, dir string, env func(string) string) (*Job, error) {
	root, faults := compose(text)
	j := Default()
	w := newWalker(env)
	if root != nil {
		w.walk(root, reflect.ValueOf(&j).Elem(), "")
		w.resolveFiles(&j, dir)
		j.complete()
		w.addFaults(faultsOf(j.Validate()))
		w.readSecrets(&j.Source.Kafka.SASL)
	}
	faults = append(faults, w.faults...)
	for i := range faults {
		faults[i].File = name
	}
	faults.sort()
	if err := faults.err(); err != nil {
		return nil, err
	}
	return &j, nil
}

// addFaults adds what Validate found, but for values that could not be taken in the first place.
func (w *walker) addFaults(faults Faults) {
	for _, f := range w.places.locate("", faults) {
		if !w.isSpoiled(f.Path) {
			w.faults = append(w.faults, f)
		}
	}
}

// isSpoiled tells whether the value at path, a part of it, or what it is part of could not be taken.
func (w *walker) isSpoiled(path string) bool {
	for spoiled := range w.spoiled {
		if within(path, spoiled) || within(spoiled, path) {
			return true
		}
	}
	return false
}

// within tells whether path is parent or below it. The file as a whole is nobody's parent: its faults spoil nothing.
func within(path, parent string) bool {
	rest, ok := strings.CutPrefix(path, parent)
	return ok && parent != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// complete fills in the settings whose default follows from others.
func (j *Job) complete() {
	k := &j.Source.Kafka
	if k.Group == "" && j.Name != "" {
		k.Group = "firn-" + j.Name
	}
	t := &k.TLS
	if t.CAFile != "" || t.CertFile != "" || t.KeyFile != "" || t.ServerName != "" || t.InsecureSkipVerify {
		t.Enabled = true
	}
}

// inputFile is a setting that names a file to read.
type inputFile struct {
	path string
	name *string
}

func inputFiles(j *Job) []inputFile {
	k := &j.Source.Kafka
	return []inputFile{
		{"source.kafka.tls.ca_file", &k.TLS.CAFile},
		{"source.kafka.tls.cert_file", &k.TLS.CertFile},
		{"source.kafka.tls.key_file", &k.TLS.KeyFile},
		{"source.kafka.sasl.password_file", &k.SASL.PasswordFile},
		{"source.kafka.sasl.token_file", &k.SASL.TokenFile},
		{"decode.schema.avro_file", &j.Decode.Schema.AvroFile},
	}
}

// resolveFiles makes the paths of files to read relative to dir, and checks that the files are there.
func (w *walker) resolveFiles(j *Job, dir string) {
	for _, f := range inputFiles(j) {
		if *f.name == "" || w.isSpoiled(f.path) {
			continue
		}
		if !filepath.IsAbs(*f.name) {
			*f.name = filepath.Join(dir, *f.name)
		}
		info, err := os.Stat(*f.name)
		switch {
		case errors.Is(err, os.ErrNotExist):
			w.fault(f.path, "file "+*f.name+" does not exist", "the path is relative to the job file")
		case err != nil:
			w.fault(f.path, "file "+*f.name+" cannot be reached: "+reason(err), "check its path and permissions")
		case !info.Mode().IsRegular():
			w.fault(f.path, *f.name+" is not a regular file", "name a file")
		}
	}
}

// readSecrets fills Password and Token from their files.
func (w *walker) readSecrets(s *SASL) {
	w.readSecret("source.kafka.sasl.password", s.PasswordFile, &s.Password)
	w.readSecret("source.kafka.sasl.token", s.TokenFile, &s.Token)
}

func (w *walker) readSecret(path, file string, secret *Secret) {
	if file == "" || w.isSpoiled(path+"_file") {
		return
	}
	if *secret != "" {
		w.fault(path, "is set, and "+filepath.Base(file)+" gives it too", "keep one of the two")
		return
	}
	text, err := readBounded(file)
	if err != nil {
		w.fault(path+"_file", "cannot be read: "+reason(err), "check its path and permissions")
		return
	}
	*secret = Secret(strings.TrimRight(string(text), "\r\n"))
	if *secret == "" {
		w.fault(path+"_file", "file "+file+" is empty", "write the secret into it")
	}
}

// readBounded reads a file of at most fileBytesMax: a larger one holds no secret.
func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, fileBytesMax+1))
	if err == nil && len(text) > fileBytesMax {
		err = fmt.Errorf("%s is larger than %s", name, ByteSize(fileBytesMax))
	}
	return text, err
}

// reason is an error of the file system without the path and operation, which the message names already.
func reason(err error) string {
	if pathError, ok := errors.AsType[*os.PathError](err); ok {
		return pathError.Err.Error()
	}
	return err.Error()
}
