package firn.components;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.DataPage;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.column.page.PageReader;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.column.values.bloomfilter.BloomFilter;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.internal.column.columnindex.ColumnIndex;
import org.apache.parquet.internal.column.columnindex.OffsetIndex;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;

/**
 * Holds what a file says of itself against its values, as parquet-java reads both: counts, statistics, column and
 * offset indexes, and bloom filters.
 */
final class ParquetCheck {
  private static final int PROBES = 1000;
  private static final double FALSE_POSITIVES_MAX = 0.05;

  private final InputFile file;
  private final boolean bloom;
  private final StringBuilder fault;
  private String place;

  /** A file whose columns have bloom filters or not; what is wrong is appended to fault. */
  ParquetCheck(InputFile file, boolean bloom, StringBuilder fault) {
    this.file = file;
    this.bloom = bloom;
    this.fault = fault;
  }

  void run() throws IOException {
    try (ParquetFileReader reader = ParquetFileReader.open(file)) {
      MessageType schema = reader.getFileMetaData().getSchema();
      long rows = 0;
      for (int g = 0; g < reader.getRowGroups().size(); g++) {
        BlockMetaData block = reader.getRowGroups().get(g);
        rows += block.getRowCount();
        for (ColumnChunkMetaData chunk : block.getColumns()) {
          place = "row group " + g + ", column " + chunk.getPath().toDotString();
          ColumnDescriptor column = schema.getColumnDescription(chunk.getPath().toArray());
          reader.setRequestedSchema(List.of(column));
          List<Page> pages = pages(reader.readRowGroup(g), reader.readRowGroup(g), column, schema,
              reader.getFileMetaData().getCreatedBy());
          chunk(chunk, block, pages, column.getPrimitiveType());
          columnIndex(reader.readColumnIndex(chunk), pages, column.getPrimitiveType());
          offsetIndex(reader.readOffsetIndex(chunk), chunk, pages);
          bloomFilter(reader.readBloomFilter(chunk), pages, column.getPrimitiveType());
        }
        reader.setRequestedSchema(schema);
      }
      place = "file";
      expect(rows == reader.getRecordCount(), "the row groups have %d rows, the file %d", rows,
          reader.getRecordCount());
    }
  }

  private void expect(boolean good, String format, Object... args) {
    if (!good) {
      fault.append(place).append(": ").append(String.format(format, args)).append('\n');
    }
  }

  /** What is in a page. */
  private static final class Page {
    final List<Object> values = new ArrayList<>();
    long entries;
    long rows;

    long nulls() {
      return entries - values.size();
    }
  }

  /** Reads the pages twice: how many entries each has, and the entries. */
  private static List<Page> pages(
      PageReadStore counted, PageReadStore read, ColumnDescriptor column, MessageType schema, String createdBy) {
    List<Page> pages = new ArrayList<>();
    PageReader reader = counted.getPageReader(column);
    reader.readDictionaryPage();
    ColumnReader entries =
        new ColumnReadStoreImpl(read, new GroupRecordConverter(schema).getRootConverter(), schema, createdBy)
            .getColumnReader(column);
    for (DataPage data = reader.readPage(); data != null; data = reader.readPage()) {
      Page page = new Page();
      for (page.entries = 0; page.entries < data.getValueCount(); page.entries++) {
        page.rows += entries.getCurrentRepetitionLevel() == 0 ? 1 : 0;
        if (entries.getCurrentDefinitionLevel() == column.getMaxDefinitionLevel()) {
          page.values.add(value(entries, column.getPrimitiveType()));
        }
        entries.consume();
      }
      pages.add(page);
    }
    return pages;
  }

  private static Object value(ColumnReader reader, PrimitiveType type) {
    return switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> reader.getBoolean();
      case INT32 -> reader.getInteger();
      case INT64 -> reader.getLong();
      case FLOAT -> reader.getFloat();
      case DOUBLE -> reader.getDouble();
      default -> reader.getBinary().copy();
    };
  }

  private void chunk(ColumnChunkMetaData chunk, BlockMetaData block, List<Page> pages, PrimitiveType type) {
    long entries = 0;
    long nulls = 0;
    long rows = 0;
    for (Page page : pages) {
      entries += page.entries;
      nulls += page.nulls();
      rows += page.rows;
    }
    expect(entries == chunk.getValueCount(), "%d entries, the footer says %d", entries, chunk.getValueCount());
    expect(rows == block.getRowCount(), "%d rows, the footer says %d", rows, block.getRowCount());
    Statistics<?> statistics = chunk.getStatistics();
    expect(statistics.isNumNullsSet() && statistics.getNumNulls() == nulls, "%d nulls, the statistics say %d", nulls,
        statistics.getNumNulls());
    if (statistics.hasNonNullValue()) {
      for (Page page : pages) {
        within(page, type, statistics.genericGetMin(), statistics.genericGetMax(), "the statistics");
      }
    } else {
      expect(!bounded(pages, type), "values without statistics");
    }
  }

  /** Whether there are values of a kind that always has bounds: numbers other than NaN. */
  private static boolean bounded(List<Page> pages, PrimitiveType type) {
    return pages.stream().anyMatch(p -> p.values.stream().anyMatch(v -> !(v instanceof Binary) && !nan(v)));
  }

  private static boolean nan(Object v) {
    return v instanceof Float f && f.isNaN() || v instanceof Double d && d.isNaN();
  }

  private void within(Page page, PrimitiveType type, Object low, Object high, String what) {
    Comparator<Object> order = type.comparator();
    for (Object v : page.values) {
      if (!nan(v) && (order.compare(low, v) > 0 || order.compare(high, v) < 0)) {
        expect(false, "%s is not within %s and %s of %s", v, low, high, what);
        return;
      }
    }
  }

  private void columnIndex(ColumnIndex index, List<Page> pages, PrimitiveType type) {
    if (index == null) {
      boolean one = pages.size() == 1;
      expect(one || !pages.stream().allMatch(p -> p.values.isEmpty() || bounded(List.of(p), type)), "no column index");
      return;
    }
    expect(index.getNullPages().size() == pages.size(), "%d pages in the column index of %d",
        index.getNullPages().size(), pages.size());
    for (int i = 0; i < pages.size(); i++) {
      Page page = pages.get(i);
      boolean empty = page.values.isEmpty();
      expect(index.getNullPages().get(i) == empty, "page %d: the column index says nulls only: %b", i, !empty);
      expect(index.getNullCounts().get(i) == page.nulls(), "page %d: %d nulls, the column index says %d", i,
          page.nulls(), index.getNullCounts().get(i));
      if (!empty) {
        within(page, type, decoded(index.getMinValues().get(i), type), decoded(index.getMaxValues().get(i), type),
            "page " + i);
      }
    }
    boundaryOrder(index, pages, type);
  }

  private void boundaryOrder(ColumnIndex index, List<Page> pages, PrimitiveType type) {
    Comparator<Object> order = type.comparator();
    int previous = -1;
    for (int i = 0; i < pages.size(); i++) {
      if (pages.get(i).values.isEmpty()) {
        continue;
      }
      if (previous >= 0) {
        int low = compare(order, index.getMinValues(), previous, i, type);
        int high = compare(order, index.getMaxValues(), previous, i, type);
        switch (index.getBoundaryOrder()) {
          case ASCENDING -> expect(low <= 0 && high <= 0, "page %d is not in ascending order", i);
          case DESCENDING -> expect(low >= 0 && high >= 0, "page %d is not in descending order", i);
          default -> { }
        }
      }
      previous = i;
    }
  }

  private static int compare(Comparator<Object> order, List<ByteBuffer> values, int a, int b, PrimitiveType type) {
    return order.compare(decoded(values.get(a), type), decoded(values.get(b), type));
  }

  private static Object decoded(ByteBuffer buffer, PrimitiveType type) {
    ByteBuffer plain = buffer.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    return switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> plain.get(plain.position()) != 0;
      case INT32 -> plain.getInt(plain.position());
      case INT64 -> plain.getLong(plain.position());
      case FLOAT -> plain.getFloat(plain.position());
      case DOUBLE -> plain.getDouble(plain.position());
      default -> Binary.fromConstantByteBuffer(plain);
    };
  }

  private void offsetIndex(OffsetIndex index, ColumnChunkMetaData chunk, List<Page> pages) {
    if (index == null) {
      expect(pages.size() == 1, "no offset index of %d pages", pages.size());
      return;
    }
    expect(index.getPageCount() == pages.size(), "%d pages in the offset index of %d", index.getPageCount(),
        pages.size());
    long row = 0;
    long at = chunk.getFirstDataPageOffset();
    for (int i = 0; i < pages.size(); i++) {
      expect(index.getFirstRowIndex(i) == row, "page %d begins at row %d, the offset index says %d", i, row,
          index.getFirstRowIndex(i));
      expect(index.getOffset(i) == at, "page %d begins at byte %d, the offset index says %d", i, at,
          index.getOffset(i));
      row += pages.get(i).rows;
      at += index.getCompressedPageSize(i);
    }
    long end = chunk.getStartingPos() + chunk.getTotalSize();
    expect(at == end, "the pages end at byte %d, the chunk at %d", at, end);
  }

  /** Every value must be found, and few of those that are not there. */
  private void bloomFilter(BloomFilter filter, List<Page> pages, PrimitiveType type) {
    boolean any = pages.stream().anyMatch(p -> !p.values.isEmpty());
    boolean wanted = bloom && any && type.getPrimitiveTypeName() != PrimitiveType.PrimitiveTypeName.BOOLEAN;
    if (filter == null) {
      expect(!wanted, "no bloom filter");
      return;
    }
    for (Page page : pages) {
      for (Object v : page.values) {
        expect(filter.findHash(filter.hash(v)), "the bloom filter does not find %s", v);
      }
    }
    Random random = new Random(1);
    int found = 0;
    for (int i = 0; i < PROBES; i++) {
      found += filter.findHash(random.nextLong()) ? 1 : 0;
    }
    expect(found <= PROBES * FALSE_POSITIVES_MAX, "the bloom filter finds %d of %d values that are not there", found,
        PROBES);
  }
}
