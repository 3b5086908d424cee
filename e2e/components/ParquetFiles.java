package firn.components;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.filter2.compat.FilterCompat;
import org.apache.parquet.filter2.predicate.FilterApi;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.filter2.predicate.Operators;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.api.ReadSupport;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;
import shaded.parquet.com.fasterxml.jackson.databind.JsonNode;
import shaded.parquet.com.fasterxml.jackson.databind.ObjectMapper;
import shaded.parquet.com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Reads Parquet files with parquet-java, for the matrix of readers (e2e/matrix).
 *
 * <p>The argument is a folder with matrix.json, which lists files and filters. Of each file NAME.parquet the rows go to
 * parquet-java/NAME.jsonl as text, and what is wrong with it, by its reader or by ParquetCheck, to
 * parquet-java/NAME.fault. The counts of the filters go to parquet-java/filters.json.
 */
public final class ParquetFiles {
  private static final ObjectMapper JSON = new ObjectMapper();

  private ParquetFiles() {}

  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    Path out = Files.createDirectories(folder.resolve("parquet-java"));
    JsonNode matrix = JSON.readTree(folder.resolve("matrix.json").toFile());
    for (JsonNode file : matrix.get("files")) {
      String name = file.get("name").asText();
      InputFile input = new LocalInputFile(folder.resolve(name + ".parquet"));
      StringBuilder fault = new StringBuilder();
      attempt(fault, () -> Files.writeString(out.resolve(name + ".jsonl"), rows(input)));
      attempt(fault, () -> new ParquetCheck(input, file.get("bloom").asBoolean(), fault).run());
      if (fault.length() > 0) {
        Files.writeString(out.resolve(name + ".fault"), fault);
      }
    }
    List<ObjectNode> counts = new ArrayList<>();
    for (JsonNode filter : matrix.get("filters")) {
      counts.add(count(folder, filter));
    }
    JSON.writeValue(out.resolve("filters.json").toFile(), counts);
  }

  private interface Step {
    void run() throws IOException;
  }

  /** Runs a step; what it throws is a fault like another. */
  private static void attempt(StringBuilder fault, Step step) {
    try {
      step.run();
    } catch (IOException | RuntimeException | AssertionError e) {
      StringWriter text = new StringWriter();
      e.printStackTrace(new PrintWriter(text));
      fault.append(text);
    }
  }

  /** Opens the records of a file. */
  private static final class Records extends ParquetReader.Builder<Group> {
    Records(InputFile file) {
      super(file);
    }

    @Override
    protected ReadSupport<Group> getReadSupport() {
      return new GroupReadSupport();
    }
  }

  private static String rows(InputFile file) throws IOException {
    StringBuilder out = new StringBuilder();
    try (ParquetReader<Group> reader = new Records(file).build()) {
      for (Group row = reader.read(); row != null; row = reader.read()) {
        fields(out, row);
        out.append('\n');
      }
    }
    return out.toString();
  }

  private static void fields(StringBuilder out, Group group) {
    GroupType type = group.getType();
    for (int i = 0; i < type.getFieldCount(); i++) {
      out.append(i == 0 ? '[' : ',');
      field(out, group, i);
    }
    out.append(']');
  }

  /** Prints a field that is there at most once. */
  private static void field(StringBuilder out, Group group, int i) {
    Type type = group.getType().getType(i);
    if (group.getFieldRepetitionCount(i) == 0) {
      out.append("null");
    } else if (type.isPrimitive()) {
      primitive(out, type.asPrimitiveType(), group, i);
    } else if (type.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation) {
      repeated(out, group.getGroup(i, 0), false);
    } else if (type.getLogicalTypeAnnotation() instanceof MapLogicalTypeAnnotation) {
      repeated(out, group.getGroup(i, 0), true);
    } else {
      fields(out, group.getGroup(i, 0));
    }
  }

  /** Prints the elements of a list, or the entries of a map with key and value. */
  private static void repeated(StringBuilder out, Group group, boolean map) {
    out.append('[');
    for (int i = 0; i < group.getFieldRepetitionCount(0); i++) {
      out.append(i == 0 ? "" : ",");
      if (map) {
        fields(out, group.getGroup(0, i));
      } else {
        field(out, group.getGroup(0, i), 0);
      }
    }
    out.append(']');
  }

  private static void primitive(StringBuilder out, PrimitiveType type, Group group, int i) {
    switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> out.append(group.getBoolean(i, 0));
      case INT32 -> out.append(group.getInteger(i, 0));
      case INT64 -> out.append(group.getLong(i, 0));
      case FLOAT -> floating(out, group.getFloat(i, 0));
      case DOUBLE -> floating(out, group.getDouble(i, 0));
      default -> bytes(out, type.getLogicalTypeAnnotation(), group.getBinary(i, 0).getBytes());
    }
  }

  private static void floating(StringBuilder out, double v) {
    out.append('"');
    out.append(Double.isNaN(v) ? "nan" : HexFormat.of().toHexDigits(Double.doubleToRawLongBits(v)));
    out.append('"');
  }

  private static void bytes(StringBuilder out, LogicalTypeAnnotation annotation, byte[] v) {
    if (annotation instanceof DecimalLogicalTypeAnnotation) {
      out.append(new BigInteger(v));
    } else if (annotation instanceof StringLogicalTypeAnnotation) {
      string(out, new String(v, StandardCharsets.UTF_8));
    } else {
      out.append('"').append(HexFormat.of().formatHex(v)).append('"');
    }
  }

  private static void string(StringBuilder out, String v) {
    out.append('"');
    for (char c : v.toCharArray()) {
      int escaped = "\"\\\b\f\n\r\t".indexOf(c);
      if (escaped >= 0) {
        out.append('\\').append("\"\\bfnrt".charAt(escaped));
      } else if (c >= ' ' && c <= '~') {
        out.append(c);
      } else {
        out.append("\\u").append(HexFormat.of().toHexDigits(c));
      }
    }
    out.append('"');
  }

  /** Counts the rows that a filter lets through, with all that skips row groups and pages, and without it. */
  private static ObjectNode count(Path folder, JsonNode filter) {
    ObjectNode counts = JSON.createObjectNode();
    StringBuilder fault = new StringBuilder();
    attempt(fault, () -> {
      InputFile file = new LocalInputFile(folder.resolve(filter.get("file").asText() + ".parquet"));
      PrimitiveType type = type(file, filter.get("column").asText());
      FilterCompat.Filter predicate = FilterCompat.get(predicate(type, filter));
      String schema = new MessageType("table", type).toString();
      counts.put("full", count(new Records(file).withFilter(predicate).set(ReadSupport.PARQUET_READ_SCHEMA, schema)
          .useStatsFilter(false).useDictionaryFilter(false).useColumnIndexFilter(false).useBloomFilter(false)));
      counts.put("filtered", count(new Records(file).withFilter(predicate).set(ReadSupport.PARQUET_READ_SCHEMA, schema)
          .useStatsFilter().useDictionaryFilter().useColumnIndexFilter().useBloomFilter()));
    });
    return fault.length() == 0 ? counts : counts.put("fault", fault.toString());
  }

  private static int count(ParquetReader.Builder<Group> records) throws IOException {
    int n = 0;
    try (ParquetReader<Group> reader = records.useRecordFilter(true).build()) {
      while (reader.read() != null) {
        n++;
      }
    }
    return n;
  }

  private static FilterPredicate predicate(PrimitiveType type, JsonNode filter) {
    String column = filter.get("column").asText();
    String op = filter.get("op").asText();
    JsonNode value = filter.get("value");
    return switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> equal(FilterApi.booleanColumn(column), op, value.isNull() ? null : value.asBoolean());
      case INT32 -> ordered(FilterApi.intColumn(column), op, value.isNull() ? null : value.asInt());
      case INT64 -> ordered(FilterApi.longColumn(column), op, value.isNull() ? null : value.asLong());
      case FLOAT -> ordered(FilterApi.floatColumn(column), op, value.isNull() ? null : (float) floating(value));
      case DOUBLE -> ordered(FilterApi.doubleColumn(column), op, value.isNull() ? null : floating(value));
      default -> ordered(FilterApi.binaryColumn(column), op, value.isNull() ? null : binary(type, value));
    };
  }

  private static PrimitiveType type(InputFile file, String column) {
    try (var reader = org.apache.parquet.hadoop.ParquetFileReader.open(file)) {
      return reader.getFileMetaData().getSchema().getType(column).asPrimitiveType();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static double floating(JsonNode value) {
    String bits = value.asText();
    return bits.equals("nan") ? Double.NaN : Double.longBitsToDouble(HexFormat.fromHexDigitsToLong(bits));
  }

  private static Binary binary(PrimitiveType type, JsonNode value) {
    if (type.getLogicalTypeAnnotation() instanceof StringLogicalTypeAnnotation) {
      return Binary.fromString(value.asText());
    }
    if (!(type.getLogicalTypeAnnotation() instanceof DecimalLogicalTypeAnnotation)) {
      return Binary.fromConstantByteArray(HexFormat.of().parseHex(value.asText()));
    }
    byte[] least = value.bigIntegerValue().toByteArray();
    byte[] out = new byte[type.getTypeLength()];
    java.util.Arrays.fill(out, (byte) (least[0] < 0 ? 0xFF : 0));
    System.arraycopy(least, 0, out, out.length - least.length, least.length);
    return Binary.fromConstantByteArray(out);
  }

  private static <T extends Comparable<T>, C extends Operators.Column<T> & Operators.SupportsEqNotEq>
      FilterPredicate equal(C column, String op, T value) {
    return switch (op) {
      case "=", "is null" -> FilterApi.eq(column, value);
      case "<>", "is not null" -> FilterApi.notEq(column, value);
      default -> throw new IllegalArgumentException(op);
    };
  }

  private static <T extends Comparable<T>, C extends Operators.Column<T> & Operators.SupportsLtGt>
      FilterPredicate ordered(C column, String op, T value) {
    return switch (op) {
      case "<" -> FilterApi.lt(column, value);
      case "<=" -> FilterApi.ltEq(column, value);
      case ">" -> FilterApi.gt(column, value);
      case ">=" -> FilterApi.gtEq(column, value);
      default -> equal(column, op, value);
    };
  }
}
