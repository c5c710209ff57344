// Answers of Prometheus as Grafana's data frames, as its data source for Prometheus lays them out.
import {DataFrameType, FieldType, toDataFrame} from '@grafana/data';

function number(text) {
  return text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);
}

function points(series) {
  return series.values ?? (series.value ? [series.value] : []);
}

/** The name of a line by the format of its legend; undefined leaves it to Grafana's own naming. */
export function legend(format, labels, query) {
  if (!format || format === '__auto') {
    return Object.keys(labels).length ? undefined : query;
  }
  return format.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, label) => labels[label] ?? '');
}

/** One frame a series, with its labels on the values. */
export function timeSeries(target, result, query, stepS) {
  return result.map((series) => {
    const name = legend(target.legendFormat, series.metric, query);
    return toDataFrame({
      refId: target.refId,
      name,
      fields: [
        {
          name: 'Time',
          type: FieldType.time,
          config: stepS ? {interval: stepS * 1000} : {},
          values: points(series).map(([at]) => at * 1000),
        },
        {
          name: 'Value',
          type: FieldType.number,
          labels: series.metric,
          config: name === undefined ? {} : {displayNameFromDS: name},
          values: points(series).map(([, value]) => number(value)),
        },
      ],
    });
  });
}

/** One frame with a column a label; the values are called after the query where there are several. */
export function table(target, result, count) {
  const labels = [...new Set(result.flatMap((series) => Object.keys(series.metric)))].sort();
  const rows = result.flatMap((series) => points(series).map(([at, value]) => ({at, value, metric: series.metric})));
  return toDataFrame({
    refId: target.refId,
    fields: [
      {name: 'Time', type: FieldType.time, values: rows.map((row) => row.at * 1000)},
      ...labels.map((label) => ({
        name: label,
        type: FieldType.string,
        config: {filterable: true},
        values: rows.map((row) => row.metric[label] ?? ''),
      })),
      {
        name: count > 1 ? `Value #${target.refId}` : 'Value',
        type: FieldType.number,
        values: rows.map((row) => number(row.value)),
      },
    ],
  });
}

/** Buckets of a histogram as one frame of rows, each less what the row below counts already. */
export function heatmap(target, result, stepS) {
  const buckets = result
    .filter((series) => series.metric.le !== undefined)
    .map((series) => ({bound: number(series.metric.le), at: new Map(points(series).map(([t, v]) => [t, number(v)]))}))
    .sort((a, b) => a.bound - b.bound);
  if (!buckets.length) {
    return [];
  }
  const times = [...new Set(buckets.flatMap((bucket) => [...bucket.at.keys()]))].sort((a, b) => a - b);
  const fields = buckets.map((bucket, index) => ({
    name: bucket.bound === Infinity ? '+Inf' : String(bucket.bound),
    type: FieldType.number,
    values: times.map((t) => {
      const value = bucket.at.get(t);
      if (value === undefined) {
        return null;
      }
      // Where bounds change over time, the next one below that is known at this moment counts.
      const below = buckets.slice(0, index).findLast((lower) => lower.at.has(t));
      return Math.max(0, value - (below?.at.get(t) ?? 0));
    }),
  }));
  return [
    toDataFrame({
      refId: target.refId,
      meta: {type: DataFrameType.HeatmapRows},
      fields: [
        {
          name: 'Time',
          type: FieldType.time,
          config: {interval: stepS * 1000},
          values: times.map((t) => t * 1000),
        },
        ...fields,
      ],
    }),
  ];
}
