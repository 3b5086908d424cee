import org.apache.kafka.connect.cli.ConnectStandalone;

/** Kafka Connect in one process: ConnectPeer WORKER.properties CONNECTOR.properties. */
public final class ConnectPeer {
  private ConnectPeer() {}

  public static void main(String[] a) {
    Starter.endWithInput();
    ConnectStandalone.main(a);
  }
}
