package bigquery

import (
	"testing"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"
)

// requestOf is a message as request has it, by the library's reading.
func requestOf(m *storagepb.AppendRowsRequest) request {
	r := request{
		stream: m.GetWriteStream(), offset: m.GetOffset().GetValue(), hasOffset: m.GetOffset() != nil,
		rows: m.GetProtoRows().GetRows().GetSerializedRows(), hasRows: m.GetProtoRows() != nil,
		hasSchema: m.GetProtoRows().GetWriterSchema() != nil, arrow: m.GetArrowRows() != nil, trace: m.GetTraceId(),
		missing: m.GetMissingValueInterpretations(), otherwise: m.GetDefaultMissingValueInterpretation(),
	}
	return r
}

func TestRequestAgreesWithTheLibrary(t *testing.T) {
	var r request
	rapid.Check(t, func(t *rapid.T) {
		writer := plainWriter()
		if rapid.Bool().Draw(t, "no schema") {
			writer = nil
		}
		m := appendRequest(rapid.String().Draw(t, "stream"), rapid.Int64Min(-1).Draw(t, "offset"), writer,
			rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "rows")...)
		m.TraceId = rapid.String().Draw(t, "trace")
		m.DefaultMissingValueInterpretation = interpretation(rapid.Int32Range(0, 2).Draw(t, "otherwise"))
		for _, name := range rapid.SliceOf(rapid.String()).Draw(t, "missing") {
			if m.MissingValueInterpretations == nil {
				m.MissingValueInterpretations = make(map[string]interpretation)
			}
			m.MissingValueInterpretations[name] = storagepb.AppendRowsRequest_NULL_VALUE
		}
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.parse(data); err != nil {
			t.Fatal(err)
		}
		got := r
		if writer != nil {
			if want, _ := proto.Marshal(m.GetProtoRows().GetWriterSchema()); string(got.schema) != string(want) {
				t.Errorf("the schema is %x, want %x", got.schema, want)
			}
		}
		got.schema = nil
		if diff := cmp.Diff(requestOf(m), got, cmp.AllowUnexported(request{}), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzRequest(f *testing.F) {
	data, err := proto.Marshal(appendRequest(tableT, 1, plainWriter(), plainRow(1, "a")))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var r request
		m := &storagepb.AppendRowsRequest{}
		if err := r.parse(data); err != nil && proto.Unmarshal(data, m) == nil {
			t.Errorf("%v, but the library reads %v", err, m)
		}
	})
}
