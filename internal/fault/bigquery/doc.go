// Package bigquery is a BigQuery within the process, for tests, demos and load: the Storage Write API over gRPC
// (google.cloud.bigquery.storage.v1.BigQueryWrite) and the part of the REST API (v2) that makes, shows and changes
// datasets and tables and lists rows. It keeps to what the API says, down to codes, details and the order of answers,
// and fails on purpose when Faults asks for it.
//
// A test uses it like this:
//
//	s, err := bigquery.Start(bigquery.Options{})
//	if err != nil { t.Fatal(err) }
//	defer s.Close()
//	// The client's endpoints are s.Endpoint() and s.RESTEndpoint(), and its CA is s.CA(), in PEM.
//	s.Faults().OnAppend(func(c bigquery.AppendCall) bigquery.Fate {
//		if c.N == 3 {
//			return bigquery.LandAndCut() // stored, and the answer is lost
//		}
//		return bigquery.Pass()
//	})
//	// ... let the client write ...
//	rows := s.Rows("project.dataset.table") // what a query sees
//	err = s.Log("project.dataset.table").Check()
//
// # What it is faithful to
//
// Write streams: COMMITTED, PENDING and BUFFERED ones and the _default of each table, with FinalizeWriteStream,
// BatchCommitWriteStreams and FlushRows. An append that is looked at when its stream is finalized is stored and
// counted, a later one never is.
//
// AppendRows: answers come in the order of requests. write_stream and writer_schema are sticky; a connection may switch
// between _default streams when it sends the schema again and names the stream from then on, and may change the schema
// only there. Offsets are checked, with a StorageError in the status. A request is stored whole or not at all; bad rows
// are named in row_errors and the connection stays. A second connection to an explicit stream ends the first one, or is
// ended itself (Faults.KeepFirstConnection). updated_schema comes once after a table changed. Defaults are filled in as
// missing_value_interpretations and default_missing_value_interpretation say.
//
// Rows: each is walked against the writer's descriptor, which is bound to the table's columns by name: wire types,
// UTF-8, required fields, ranges and lengths. A field number that the descriptor does not have makes a bad row.
// A field that comes twice is checked each time, before the second takes the place of the first.
//
// Changes (_CHANGE_TYPE, _CHANGE_SEQUENCE_NUMBER): Rows shows the last one of each key at once. A DELETE needs the
// required columns too. Sequence numbers are compared section by section; where one has more sections and the rest is
// the same it is the higher one, which Google does not say.
//
// # Which errors end an AppendRows stream
//
// In the answer, and the stream goes on: offsets, bad rows, a finalized stream, fields that the table does not have.
// At the end of the stream: a table or stream that is not found, a request that is too large or breaks the rules of the
// connection, a descriptor that can never fit the table, quotas, what Faults ends.
//
// # What it does not do
//
// No queries and jobs, no views, no Arrow, no Storage Read API, no access control: credentials are not looked at. Only
// proto2 descriptors as managedwriter/adapt makes them: no groups, no google.protobuf wrappers, and no other message
// types from outside the descriptor. Partitions, clustering, expiration, labels, max staleness and
// biglakeConfiguration are kept and have no effect. Of default value expressions it evaluates literals, CURRENT_DATE,
// CURRENT_DATETIME, CURRENT_TIMESTAMP and GENERATE_UUID; an append to a table with another one is UNIMPLEMENTED. The
// text of GEOGRAPHY and INTERVAL is hardly looked at, and that of a TIMESTAMP has no time zone by name. Streams never
// expire and quotas are never exceeded by themselves. Nothing survives Close.
//
// # What it costs
//
// With KeepNone and requests of 1 MB, 0.51 CPU seconds of the server for each GB of rows, and 0.92 with TLS
// (BenchmarkAppend, on 2 cores under other load); it took 1.6 and 1.06 GB/s. KeepRows decodes each row and keeps it as
// a map, which is for tests.
//
// Sources: storage.proto, stream.proto, table.proto and protobuf.proto of google.cloud.bigquery.storage.v1 with their
// comments, BigQuery's documents "Storage Write API", "Supported protocol buffer and Arrow data types" and "Stream
// table updates with change data capture", and the discovery document of bigquery v2.
package bigquery
