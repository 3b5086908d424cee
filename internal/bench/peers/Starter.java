import java.io.IOException;

/** The process that started this one. */
final class Starter {
  private Starter() {}

  /** Ends this process when its input ends, so that it never outlives the one that started it. */
  static void endWithInput() {
    Thread watch = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {}
      } catch (IOException e) {
        // the same as its end
      }
      Runtime.getRuntime().halt(0);
    });
    watch.setDaemon(true);
    watch.start();
  }
}
