package e2e

import (
	"os"
	"testing"
)

// The environment variables that say where the services are.
const (
	envKafka       = "FIRN_TEST_KAFKA"    // host:port
	envRESTCatalog = "FIRN_TEST_REST_URL" // http://host:port
	envS3Endpoint  = "FIRN_TEST_S3_ENDPOINT"
	envS3AccessKey = "FIRN_TEST_S3_ACCESS_KEY"
	envS3SecretKey = "FIRN_TEST_S3_SECRET_KEY"
	envS3Region    = "FIRN_TEST_S3_REGION"
	envS3Bucket    = "FIRN_TEST_S3_BUCKET"
	envGCSEndpoint = "FIRN_TEST_GCS_ENDPOINT"
	envGCSBucket   = "FIRN_TEST_GCS_BUCKET"
	envLong        = "FIRN_E2E" // set: the long tests run too
)

// S3Config says how to reach an S3 store, by path-style addresses, and which bucket of it is for tests.
type S3Config struct {
	Endpoint  string // http://host:port
	AccessKey string
	SecretKey string
	Region    string
	Bucket    string
}

// Kafka gives the host:port of a broker that does not create topics by use, or skips the test. Other tests use the
// broker at the same time: names of topics and groups must be of the test's own.
func Kafka(t testing.TB) string {
	t.Helper()
	return require(t, envKafka, "a Kafka broker")
}

// RESTCatalog gives the URL of an Iceberg REST catalog, or skips the test. Its tables lie in local files unless their
// location is on the store of S3. Other tests use it too: names of tables must be of the test's own.
func RESTCatalog(t testing.TB) string {
	t.Helper()
	return require(t, envRESTCatalog, "an Iceberg REST catalog")
}

// S3 gives an S3 store, or skips the test. Other tests use its bucket too: prefixes must be of the test's own.
func S3(t testing.TB) S3Config {
	t.Helper()
	const what = "an S3 store"
	return S3Config{
		Endpoint:  require(t, envS3Endpoint, what),
		AccessKey: require(t, envS3AccessKey, what),
		SecretKey: require(t, envS3SecretKey, what),
		Region:    require(t, envS3Region, what),
		Bucket:    require(t, envS3Bucket, what),
	}
}

// Environ gives the settings of the store as the variables that clients of S3 read.
func (s S3Config) Environ() []string {
	return []string{
		"AWS_ENDPOINT_URL_S3=" + s.Endpoint,
		"AWS_ACCESS_KEY_ID=" + s.AccessKey,
		"AWS_SECRET_ACCESS_KEY=" + s.SecretKey,
		"AWS_REGION=" + s.Region,
	}
}

// GCSConfig says how to reach an emulator of GCS, which asks for no credentials, and which bucket of it is for tests.
type GCSConfig struct {
	Endpoint string // http://host:port
	Bucket   string
}

// GCS gives an emulator of GCS, or skips the test. Other tests use its bucket too: prefixes must be of the test's own.
func GCS(t testing.TB) GCSConfig {
	t.Helper()
	const what = "an emulator of GCS"
	return GCSConfig{Endpoint: require(t, envGCSEndpoint, what), Bucket: require(t, envGCSBucket, what)}
}

// Environ gives the address of the emulator as the variable that clients of GCS read.
func (g GCSConfig) Environ() []string { return []string{"STORAGE_EMULATOR_HOST=" + g.Endpoint} }

// Long skips a test that takes minutes unless long tests are asked for (make e2e).
func Long(t testing.TB) {
	t.Helper()
	require(t, envLong, "a run of the long tests")
}

// require gives the value of an environment variable that says where something is, or skips the test.
func require(t testing.TB, name, what string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Skipf("skipped for want of %s: %s is not set; make e2e sets it where it can", what, name)
	}
	return value
}
