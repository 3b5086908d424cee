package bigquery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	bq "cloud.google.com/go/bigquery"
	"cloud.google.com/go/bigquery/storage/apiv1/storagepb"
	"google.golang.org/api/googleapi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Table is a table as the BigQuery API describes it.
type Table struct {
	Name     TableName
	Schema   *storagepb.TableSchema
	Location string
	// PrimaryKey is its columns; empty when there is none.
	PrimaryKey []string
	// Iceberg says that the table is in Iceberg's format in a bucket, managed by BigQuery.
	Iceberg bool
}

// Partition is by the days, hours, months or years of a column, or of the time of writing.
type Partition struct {
	// Unit is DAY, HOUR, MONTH or YEAR.
	Unit string
	// Column is a DATE, DATETIME or TIMESTAMP column of the table's own; empty is the time of writing.
	Column string
	// Expiration is how long a partition is kept; 0 is for ever.
	Expiration time.Duration
}

// IcebergStorage is where a table in Iceberg's format, managed by BigQuery, has its files.
type IcebergStorage struct {
	// Connection is project.location.name of a connection to Cloud Storage.
	Connection string
	// URI is gs://bucket/folder/.
	URI string
}

// TableSpec is a table to be made.
type TableSpec struct {
	Schema      *storagepb.TableSchema
	Description string
	Partition   *Partition
	// RequirePartitionFilter refuses queries that read all partitions.
	RequirePartitionFilter bool
	// Cluster is up to four columns.
	Cluster []string
	// Expiration is when the table is deleted after it was made; 0 is never.
	Expiration time.Duration
	// PrimaryKey is up to 16 columns, which rows with ChangeType need. BigQuery does not enforce it.
	PrimaryKey []string
	// MaxStaleness is how old a query may see rows that were written with ChangeType; 0 is not at all.
	MaxStaleness time.Duration
	Labels       map[string]string
	// Iceberg is nil for a table in BigQuery's own storage.
	Iceberg *IcebergStorage
}

// tableTimeout bounds a request about tables. Google's client tries it again by itself, without an end and unseen.
const tableTimeout = time.Minute

// bounded is a context for a request about tables.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(tableTimeout, c.options.Retry.Budget))
}

// Table looks at a table. The error is ErrNotFound when there is none, and says whether its dataset is there.
func (c *Client) Table(ctx context.Context, name TableName) (*Table, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	m, err := c.table(name).Metadata(ctx)
	if err != nil {
		if isStatus(err, http.StatusNotFound) {
			return nil, c.missing(ctx, name, err)
		}
		return nil, fmt.Errorf("looking at table %s: %w", name, restError(err))
	}
	if m.Type != bq.RegularTable && m.Type != "" {
		return nil, fmt.Errorf("%s is of type %s: only tables can be written to", name, m.Type)
	}
	return tableOf(name, m), nil
}

func tableOf(name TableName, m *bq.TableMetadata) *Table {
	t := &Table{Name: name, Schema: fromREST(m.Schema), Location: m.Location, Iceberg: m.BigLakeConfiguration != nil}
	if m.TableConstraints != nil && m.TableConstraints.PrimaryKey != nil {
		t.PrimaryKey = m.TableConstraints.PrimaryKey.Columns
	}
	return t
}

// CreateTable makes a table and returns it as it then is. When there is one of the name already, it returns that one:
// see whether its schema fits.
func (c *Client) CreateTable(ctx context.Context, name TableName, spec TableSpec) (*Table, error) {
	m, err := spec.metadata(time.Now())
	if err != nil {
		return nil, fmt.Errorf("making table %s: %w", name, err)
	}
	making, cancel := c.bounded(ctx)
	defer cancel()
	switch err := c.table(name).Create(making, m); {
	case isStatus(err, http.StatusNotFound):
		return nil, c.missing(making, name, err)
	case err != nil && !isStatus(err, http.StatusConflict):
		return nil, fmt.Errorf("making table %s: %w", name, restError(err))
	}
	return c.Table(ctx, name)
}

func (c *Client) table(name TableName) *bq.Table {
	return c.rest.DatasetInProject(name.Project, name.Dataset).Table(name.Table)
}

// missing is the error for a table that is not there: its dataset may not be either.
func (c *Client) missing(ctx context.Context, name TableName, err error) error {
	_, datasetErr := c.rest.DatasetInProject(name.Project, name.Dataset).Metadata(ctx)
	if isStatus(datasetErr, http.StatusNotFound) {
		return fmt.Errorf("there is no dataset %s.%s: create it first, in the location where the data is to be: %w: %w",
			name.Project, name.Dataset, ErrNotFound, err)
	}
	return fmt.Errorf("there is no table %s: %w: %w", name, ErrNotFound, err)
}

// metadata is the table for the BigQuery API.
func (s TableSpec) metadata(now time.Time) (*bq.TableMetadata, error) {
	schema, err := toREST(s.Schema.GetFields(), "")
	if err != nil {
		return nil, err
	}
	m := &bq.TableMetadata{
		Schema: schema, Description: s.Description, Labels: s.Labels, RequirePartitionFilter: s.RequirePartitionFilter,
	}
	if s.Partition != nil {
		if m.TimePartitioning, err = s.Partition.rest(); err != nil {
			return nil, err
		}
	}
	if len(s.Cluster) > 0 {
		m.Clustering = &bq.Clustering{Fields: s.Cluster}
	}
	if s.Expiration > 0 {
		m.ExpirationTime = now.Add(s.Expiration)
	}
	if len(s.PrimaryKey) > 0 {
		m.TableConstraints = &bq.TableConstraints{PrimaryKey: &bq.PrimaryKey{Columns: s.PrimaryKey}}
	}
	if s.MaxStaleness > 0 {
		m.MaxStaleness = bq.IntervalValueFromDuration(s.MaxStaleness)
	}
	if s.Iceberg != nil {
		if s.Iceberg.Connection == "" || s.Iceberg.URI == "" {
			return nil, errors.New("a table in Iceberg's format needs a connection and a gs:// folder")
		}
		m.BigLakeConfiguration = &bq.BigLakeConfiguration{
			ConnectionID: s.Iceberg.Connection, StorageURI: s.Iceberg.URI,
			FileFormat: bq.ParquetBigLakeFileFormat, TableFormat: bq.IcebergBigLakeTableFormat,
		}
	}
	return m, nil
}

func (p *Partition) rest() (*bq.TimePartitioning, error) {
	switch unit := bq.TimePartitioningType(p.Unit); unit {
	case bq.DayPartitioningType, bq.HourPartitioningType, bq.MonthPartitioningType, bq.YearPartitioningType:
		return &bq.TimePartitioning{Type: unit, Field: p.Column, Expiration: p.Expiration}, nil
	default:
		return nil, fmt.Errorf("partitions by %q: write DAY, HOUR, MONTH or YEAR", p.Unit)
	}
}

func isStatus(err error, code int) bool {
	answer := (*googleapi.Error)(nil)
	return errors.As(err, &answer) && answer.Code == code
}

// restError marks what the BigQuery API refuses by the errors of this package.
func restError(err error) error {
	var kind error
	answer := (*googleapi.Error)(nil)
	switch {
	case errors.As(err, &answer):
		kind = answerKind(answer)
	case tokenRefused(err) || status.Code(err) == codes.Unauthenticated:
		kind = ErrDenied
	case !errors.Is(err, context.Canceled):
		kind = ErrUnreachable
	}
	if kind == nil {
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// answerKind is what an answer means; nil is nothing that is told apart.
func answerKind(a *googleapi.Error) error {
	for _, e := range a.Errors {
		switch e.Reason {
		case "quotaExceeded", "rateLimitExceeded":
			return ErrQuota // they come with 403, as what is forbidden does
		}
	}
	switch {
	case a.Code == http.StatusUnauthorized, a.Code == http.StatusForbidden:
		return ErrDenied
	case a.Code == http.StatusTooManyRequests:
		return ErrQuota
	case a.Code >= http.StatusInternalServerError:
		return ErrUnreachable
	default:
		return nil
	}
}
