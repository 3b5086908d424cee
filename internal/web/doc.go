// Package web serves what a job is doing over HTTP: metrics, health, and its figures as JSON.
package web
