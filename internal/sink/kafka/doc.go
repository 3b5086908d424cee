// Package kafka makes records visible in Kafka topics.
package kafka
