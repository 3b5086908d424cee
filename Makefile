# What can be done with the sources. Go is all that must be there; what else a target can use, it finds or does without,
# and says so in a line "skipped: NAME (why)".

.PHONY: build test unit race lint fuzz bench e2e fmt clean

build: ## the program, ./firn
	CGO_ENABLED=0 go build -trimpath -o firn ./cmd/firn

test: ## everything that a change must pass: format, vet, lint, tests with services, short fuzzing
	@tools/test.sh

unit: ## the tests alone, without services
	go test ./...

race: ## the tests of all packages with the race detector (slow to build)
	go test -race ./...

lint: ## format, vet, golangci-lint, govulncheck
	@tools/lint.sh

fuzz: ## every fuzz target for FUZZTIME (1m)
	@tools/fuzz.sh "$${FUZZTIME:-1m}" ./...

bench: ## the benchmarks of all packages, into .cache/bench.txt, for benchstat
	@mkdir -p .cache
	go test -run='^$$' -bench=. -benchmem -count=$${COUNT:-6} ./... | tee .cache/bench.txt

e2e: ## the long tests against a broker, catalog and object store, Spark among the readers
	@tools/e2e.sh

fmt: ## write the sources in the one form
	gofmt -w .

clean: ## remove what was built here
	rm -rf .cache firn
	go clean -testcache
