package bigquery_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"firn/internal/fault/bigquery"
)

// Example loses the answer of an append that is stored, and sends it again.
func Example() {
	s, err := bigquery.Start(bigquery.Options{Insecure: true}) // without it, a client needs s.CA()
	check(err)
	defer s.Close()
	post(s, "projects/p/datasets", `{"datasetReference":{"datasetId":"d"}}`)
	post(s, "projects/p/datasets/d/tables",
		`{"tableReference":{"tableId":"t"},"schema":{"fields":[{"name":"id","type":"INTEGER"}]}}`)
	s.Faults().OnAppend(func(c bigquery.AppendCall) bigquery.Fate {
		if c.N == 1 {
			return bigquery.LandAndCut()
		}
		return bigquery.Pass()
	})
	conn, err := grpc.NewClient(s.Endpoint(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	defer conn.Close()
	client := storagepb.NewBigQueryWriteClient(conn)
	stream, err := client.CreateWriteStream(context.Background(), &storagepb.CreateWriteStreamRequest{
		Parent:      "projects/p/datasets/d/tables/t",
		WriteStream: &storagepb.WriteStream{Type: storagepb.WriteStream_COMMITTED},
	})
	check(err)
	for range 2 {
		fmt.Println(write(client, stream.GetName()))
	}
	fmt.Println(s.Rows("p.d.t"), s.Log("p.d.t").Check())
	// Output:
	// Unavailable
	// AlreadyExists
	// [map[id:7]] <nil>
}

// write appends the row {id: 7} at offset 0, and returns the code of the answer or of the end of the stream.
func write(client storagepb.BigQueryWriteClient, stream string) fmt.Stringer {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	rpc, err := client.AppendRows(ctx)
	check(err)
	check(rpc.Send(&storagepb.AppendRowsRequest{
		WriteStream: stream, Offset: wrapperspb.Int64(0),
		Rows: &storagepb.AppendRowsRequest_ProtoRows{ProtoRows: &storagepb.AppendRowsRequest_ProtoData{
			WriterSchema: &storagepb.ProtoSchema{ProtoDescriptor: &descriptorpb.DescriptorProto{
				Name: proto.String("Row"),
				Field: []*descriptorpb.FieldDescriptorProto{{
					Name: proto.String("id"), Number: proto.Int32(1),
					Type: descriptorpb.FieldDescriptorProto_TYPE_INT64.Enum(),
				}},
			}},
			Rows: &storagepb.ProtoRows{SerializedRows: [][]byte{{1 << 3, 7}}},
		}},
	}))
	answer, err := rpc.Recv()
	if err != nil {
		return status.Code(err)
	}
	return status.FromProto(answer.GetError()).Code()
}

func post(s *bigquery.Server, path, body string) {
	answer, err := http.Post(s.RESTEndpoint()+path, "application/json", strings.NewReader(body))
	check(err)
	check(answer.Body.Close())
}

func check(err error) {
	if err != nil {
		panic(err) // an example has no test to fail
	}
}
