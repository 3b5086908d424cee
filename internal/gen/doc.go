// Package gen makes messages from a text template and sends them at a held rate.
//
// A template is text with calls in it, such as {"id": "{{uuid()}}"}. The functions, their arguments and their ranges
// are those of json-data-generator 1.16, which the Dataflow template Streaming_Data_Generator uses; docs/generator.md
// lists them, with the places where firn differs. Compile reads the text once; a State per worker then appends
// messages without locks and, for the common functions, without allocation.
package gen
