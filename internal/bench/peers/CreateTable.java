import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.hadoop.HadoopCatalog;
import org.apache.iceberg.types.Types;

/**
 * Makes the table bench.messages, the same for every rival: CreateTable WAREHOUSE narrow|wide BUCKETS CODEC. No buckets
 * are 0. It goes through Iceberg's own interface, since Flink's SQL has no bucket transform.
 */
public final class CreateTable {
  private CreateTable() {}

  public static void main(String[] a) throws Exception {
    boolean wide = a[1].equals("wide");
    Schema schema = wide ? wide() : narrow();
    int buckets = Integer.parseInt(a[2]);
    PartitionSpec spec = buckets == 0
        ? PartitionSpec.unpartitioned()
        : PartitionSpec.builderFor(schema).bucket(wide ? "id" : "logStreamId", buckets).build();
    try (HadoopCatalog catalog = new HadoopCatalog(new Configuration(), a[0])) {
      catalog.createTable(TableIdentifier.of("bench", "messages"), schema, spec,
          Map.of("write.parquet.compression-codec", a[3]));
    }
  }

  private static Schema narrow() {
    return new Schema(
        Types.NestedField.optional(1, "logStreamId", Types.LongType.get()),
        Types.NestedField.optional(2, "message", Types.StringType.get()));
  }

  private static Schema wide() {
    return new Schema(
        Types.NestedField.optional(1, "id", Types.LongType.get()),
        Types.NestedField.optional(2, "user_id", Types.LongType.get()),
        Types.NestedField.optional(3, "session", Types.StringType.get()),
        Types.NestedField.optional(4, "event", Types.StringType.get()),
        Types.NestedField.optional(5, "ok", Types.BooleanType.get()),
        Types.NestedField.optional(6, "score", Types.DoubleType.get()),
        Types.NestedField.optional(7, "lat", Types.DoubleType.get()),
        Types.NestedField.optional(8, "lon", Types.DoubleType.get()),
        Types.NestedField.optional(9, "ts", Types.TimestampType.withZone()),
        Types.NestedField.optional(10, "recv", Types.TimestampType.withZone()),
        Types.NestedField.optional(11, "price", Types.DecimalType.of(9, 2)),
        Types.NestedField.optional(12, "qty", Types.IntegerType.get()),
        Types.NestedField.optional(13, "country", Types.StringType.get()),
        Types.NestedField.optional(14, "device", Types.StructType.of(
            Types.NestedField.optional(21, "os", Types.StringType.get()),
            Types.NestedField.optional(22, "ver", Types.StringType.get()),
            Types.NestedField.optional(23, "w", Types.IntegerType.get()),
            Types.NestedField.optional(24, "retina", Types.BooleanType.get()))),
        Types.NestedField.optional(15, "referrer", Types.StringType.get()),
        Types.NestedField.optional(16, "ip", Types.StringType.get()),
        Types.NestedField.optional(17, "ua", Types.StringType.get()),
        Types.NestedField.optional(18, "is_new", Types.BooleanType.get()),
        Types.NestedField.optional(19, "note", Types.StringType.get()),
        Types.NestedField.optional(20, "bytes", Types.LongType.get()));
  }
}
