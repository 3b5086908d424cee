import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.Trigger;

/**
 * Spark Structured Streaming in one process, from a topic into bench.messages: SparkPeer BROKERS TOPIC FOLDER WAREHOUSE
 * narrow|wide SECONDS RECORDS. A batch takes RECORDS at most.
 */
public final class SparkPeer {
  private SparkPeer() {}

  private static final String NARROW = "logStreamId bigint, message string";
  private static final String WIDE = "id bigint, user_id bigint, session string, event string, ok boolean, "
      + "score double, lat double, lon double, ts timestamp, recv timestamp, price decimal(9,2), qty int, "
      + "country string, device struct<os: string, ver: string, w: int, retina: boolean>, referrer string, ip string, "
      + "ua string, is_new boolean, note string, bytes bigint";

  public static void main(String[] a) throws Exception {
    Starter.endWithInput();
    SparkSession session = SparkSession.builder().master("local[2]")
        .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.local.dir", a[2] + "/local").config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config("spark.sql.catalog.h", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.h.type", "hadoop").config("spark.sql.catalog.h.warehouse", a[3])
        .getOrCreate();
    Dataset<Row> rows = session.readStream().format("kafka").option("kafka.bootstrap.servers", a[0])
        .option("subscribe", a[1]).option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", a[6]).load()
        .selectExpr("from_json(cast(value as string), '" + (a[4].equals("wide") ? WIDE : NARROW) + "') as j")
        .select("j.*");
    rows.writeStream().format("iceberg").outputMode("append").trigger(Trigger.ProcessingTime(a[5] + " seconds"))
        .option("checkpointLocation", a[2] + "/checkpoint").option("fanout-enabled", "true")
        .toTable("h.bench.messages").awaitTermination();
  }
}
