import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * Flink in one process, from a topic into bench.messages: FlinkPeer BROKERS TOPIC GROUP WAREHOUSE narrow|wide SECONDS.
 */
public final class FlinkPeer {
  private FlinkPeer() {}

  private static final String NARROW = "logStreamId BIGINT, message STRING";
  private static final String WIDE = "`id` BIGINT, `user_id` BIGINT, `session` STRING, `event` STRING, `ok` BOOLEAN, "
      + "`score` DOUBLE, `lat` DOUBLE, `lon` DOUBLE, `ts` TIMESTAMP_LTZ(6), `recv` TIMESTAMP_LTZ(6), "
      + "`price` DECIMAL(9, 2), `qty` INT, `country` STRING, "
      + "`device` ROW<`os` STRING, `ver` STRING, `w` INT, `retina` BOOLEAN>, `referrer` STRING, `ip` STRING, "
      + "`ua` STRING, `is_new` BOOLEAN, `note` STRING, `bytes` BIGINT";

  public static void main(String[] a) throws Exception {
    Starter.endWithInput();
    Configuration settings = new Configuration();
    settings.setString("execution.checkpointing.interval", a[5] + " s");
    settings.setString("taskmanager.memory.network.min", "256m");
    settings.setString("taskmanager.memory.network.max", "256m");
    settings.setString("taskmanager.memory.managed.size", "128m");
    StreamExecutionEnvironment environment = StreamExecutionEnvironment.createLocalEnvironment(2, settings);
    StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
    tables.executeSql("CREATE TABLE messages (" + (a[4].equals("wide") ? WIDE : NARROW) + ") WITH ("
        + "'connector' = 'kafka', 'properties.bootstrap.servers' = '" + a[0] + "', 'topic' = '" + a[1]
        + "', 'properties.group.id' = '" + a[2] + "', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json', "
        + "'json.timestamp-format.standard' = 'ISO-8601')");
    tables.executeSql("CREATE CATALOG h WITH ('type' = 'iceberg', 'catalog-type' = 'hadoop', 'warehouse' = '" + a[3]
        + "')");
    tables.executeSql("INSERT INTO h.bench.messages SELECT * FROM messages").await();
  }
}
