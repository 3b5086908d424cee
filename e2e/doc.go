// Package e2e runs the program against a real broker, catalog and object store, and looks at its tables with other
// readers. It has what the tests share: where the services are, the program, the readers.
//
// components/services.sh starts the services and sets the environment variables that tell where they are; make test
// and make e2e call it. A test that needs a service which is not there is skipped, and names it.
package e2e
