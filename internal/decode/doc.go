// Package decode turns record values into typed columns, and the texts in which users write schemas into record.Schema.
package decode
