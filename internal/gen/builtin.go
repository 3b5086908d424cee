package gen

import (
	"maps"
	"slices"
)

// ReferenceTemplate makes the messages of the public benchmarks of Dataflow's Kafka and Pub/Sub templates: JSON of
// 1,003 bytes.
const ReferenceTemplate = `{"logStreamId": "{{integer(1000001,2000000)}}", "message": "{{alphaNumeric(962)}}"}`

// builtins are templates by name. GAME_EVENT and LOG_ENTRY have the fields and ranges of those that the Dataflow
// template Streaming_Data_Generator offers in its parameter schemaTemplate.
func builtins() map[string]string {
	return map[string]string{
		"reference": ReferenceTemplate,
		"GAME_EVENT": `{"eventId": "{{uuid()}}", "eventTimestamp": {{timestamp()}}, "ipv4": "{{ipv4()}}", ` +
			`"ipv6": "{{ipv6()}}", "country": "{{country()}}", "username": "{{username()}}", ` +
			`"quest": "{{random("A Break In the Ice", "Ghosts of Perdition", "Survive the Low Road")}}", ` +
			`"score": {{integer(100,10000)}}, "completed": {{bool()}}}`,
		"LOG_ENTRY": `{"logName": "{{alpha(10,20)}}", "resource": {"type": "{{alpha(5,10)}}"}, ` +
			`"timestamp": {{timestamp()}}, "receiveTimestamp": {{timestamp()}}, "severity": ` +
			`"{{random("DEFAULT", "DEBUG", "INFO", "NOTICE", "WARNING", "ERROR", "CRITICAL", "ERROR")}}", ` +
			`"insertId": "{{uuid()}}", "trace": "{{uuid()}}", "spanId": "{{uuid()}}", "jsonPayload": {` +
			`"bytes_sent": {{integer(1000,20000)}}, "connection": {"dest_ip": "{{ipv4()}}", ` +
			`"dest_port": {{integer(0,65000)}}, "protocol": {{integer(0,6)}}, "src_ip": "{{ipv4()}}", ` +
			`"src_port": {{integer(0,65000)}}}, ` +
			`"dest_instance": {"project_id": "{{concat("PROJECT", integer(0,3))}}", ` +
			`"region": "{{country()}}", "vm_name": "{{username()}}", "zone": "{{state()}}"}, ` +
			`"end_time": {{timestamp()}}, "packets_sent": {{integer(100,400)}}, ` +
			`"reporter": "{{random("SRC", "DEST")}}", "rtt_msec": {{integer(0,20)}}, "start_time": {{timestamp()}}}}`,
	}
}

// Builtin is the text of a named template; BuiltinNames lists the names.
func Builtin(name string) (text string, ok bool) {
	text, ok = builtins()[name]
	return text, ok
}

// BuiltinNames are the names of the templates that Builtin knows, sorted.
func BuiltinNames() []string { return slices.Sorted(maps.Keys(builtins())) }
