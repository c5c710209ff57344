import {FieldType, formattedValueToString, getFieldDisplayName} from '@grafana/data';
import {VizLayout, VizLegend} from '@grafana/ui';
import {TimeAxis} from './axis.jsx';

const AXIS = 20;
const LEAST_TEXT = 40;

/** Stretches of one value: [{from, to, value}], ended where samples are missing. */
export function stretches(times, values, endMs, stepMs, merge) {
  const found = [];
  values.forEach((value, index) => {
    if (value === null || value === undefined || Number.isNaN(value)) {
      return;
    }
    const next = times[index + 1] ?? Math.min(endMs, times[index] + (stepMs || endMs - times[index]));
    const to = stepMs && next - times[index] > stepMs * 2 ? times[index] + stepMs : next;
    const last = found.at(-1);
    if (merge && last && last.value === value && last.to >= times[index]) {
      last.to = to;
    } else {
      found.push({from: times[index], to, value});
    }
  });
  return found;
}

function rowsOf(data) {
  return data.flatMap((frame) => {
    const time = frame.fields.find((field) => field.type === FieldType.time);
    return frame.fields
      .filter((field) => field !== time && !field.config.custom?.hideFrom?.viz)
      .map((field) => ({field, time, name: getFieldDisplayName(field, frame, data)}));
  });
}

function legendItems(rows, theme) {
  const found = new Map();
  const mappings = rows[0]?.field.config.mappings ?? [];
  if (mappings.length) {
    for (const {field} of rows) {
      for (const value of new Set(field.values)) {
        if (value !== null && value !== undefined) {
          const shown = field.display(value);
          found.set(formattedValueToString(shown), shown.color);
        }
      }
    }
  } else if (rows[0]?.field.config.color?.mode === 'thresholds') {
    for (const step of rows[0].field.config.thresholds.steps) {
      const label = Number.isFinite(step.value) ? `${formattedValueToString(rows[0].field.display(step.value))}+` : 'lower';
      found.set(label, theme.visualization.getColorByName(step.color));
    }
  }
  return [...found].map(([label, color]) => ({label, color, yAxis: 1}));
}

/** The width that names at the left may take. */
export function nameWidth(names, width) {
  const longest = names.reduce((most, name) => Math.max(most, name.length), 0);
  return Math.min(width * 0.35, longest * 7.2 + 8);
}

/** States, or a grid of cells, over time: stand-ins, as Grafana publishes neither. */
export function Timeline({panel, data, width, height, timeRange, theme}) {
  const rows = rowsOf(data);
  const options = panel.options;
  const history = panel.type === 'status-history';
  const items = legendItems(rows, theme);
  const legend = options.legend?.showLegend && items.length > 0 && (
    <VizLayout.Legend placement={options.legend.placement}>
      <VizLegend placement={options.legend.placement} displayMode={options.legend.displayMode} items={items} />
    </VizLayout.Legend>
  );
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  return (
    <VizLayout width={width} height={height} legend={legend || null}>
      {(w, h) => {
        const left = nameWidth(rows.map((row) => row.name), w);
        const plot = w - left - 8;
        const high = (h - AXIS) / rows.length;
        const x = (at) => left + ((Math.max(from, Math.min(to, at)) - from) / (to - from)) * plot;
        return (
          <svg width={w} height={h} role="img">
            {rows.map(({field, time, name}, index) => {
              const top = index * high + (high * (1 - options.rowHeight)) / 2;
              const tall = high * options.rowHeight;
              const parts = stretches(time.values, field.values, to, time.config.interval, !history && options.mergeValues);
              return (
                <g key={index}>
                  <text x={left - 6} y={top + tall / 2 + 4} textAnchor="end" fontSize={Math.min(12, high)} fill={theme.colors.text.primary}>
                    {name.length * 7.2 > left ? `${name.slice(0, Math.max(4, left / 7.2 - 2))}…` : name}
                    <title>{name}</title>
                  </text>
                  {parts.map((part) => {
                    const shown = field.display(part.value);
                    const wide = Math.max(1, (x(part.to) - x(part.from)) * (history ? options.colWidth : 1));
                    const text = formattedValueToString(shown);
                    const fits = options.showValue !== 'never' && wide > LEAST_TEXT && text.length * 7 < wide && tall > 12;
                    return (
                      <g key={part.from}>
                        <rect x={x(part.from)} y={top} width={wide} height={tall} fill={shown.color} fillOpacity={0.8}>
                          <title>{`${name}: ${text}`}</title>
                        </rect>
                        {fits && (
                          <text x={x(part.from) + 4} y={top + tall / 2 + 4} fontSize={12} fill={theme.colors.getContrastText(shown.color)}>
                            {text}
                          </text>
                        )}
                      </g>
                    );
                  })}
                </g>
              );
            })}
            <TimeAxis from={from} to={to} left={left} width={plot} top={h - 4} theme={theme} />
          </svg>
        );
      }}
    </VizLayout>
  );
}
