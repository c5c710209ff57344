import {FieldType, formattedValueToString, getFieldDisplayName, getValueFormat} from '@grafana/data';
import {nameWidth} from './timeline.jsx';
import {TimeAxis} from './axis.jsx';

const AXIS = 20;
const SCALE = 16;
const VIRIDIS = ['#440154', '#472c7a', '#3b518b', '#2c718e', '#21908d', '#27ad81', '#5cc863', '#aadc32', '#fde725'];

function mixed(a, b, share) {
  const part = (color, at) => parseInt(color.slice(at, at + 2), 16);
  return `rgb(${[1, 3, 5].map((at) => Math.round(part(a, at) + (part(b, at) - part(a, at)) * share)).join(',')})`;
}

/** The color of a value between 0 and 1. */
export function viridis(share) {
  const place = Math.min(1, Math.max(0, share)) * (VIRIDIS.length - 1);
  const below = Math.min(VIRIDIS.length - 2, Math.floor(place));
  return mixed(VIRIDIS[below], VIRIDIS[below + 1], place - below);
}

function rowsOf(data, unit) {
  const format = getValueFormat(unit);
  return data.flatMap((frame) => {
    const time = frame.fields.find((field) => field.type === FieldType.time);
    return frame.fields
      .filter((field) => field.type === FieldType.number)
      .map((field) => {
        const name = getFieldDisplayName(field, frame, data);
        const bound = Number(field.name);
        const label = Number.isFinite(bound) ? formattedValueToString(format(bound)) : name;
        return {field, time, label: field.name === '+Inf' ? '+Inf' : label};
      });
  });
}

/** How many are in which range over time: a stand-in, as Grafana publishes none. */
export function Heatmap({panel, data, width, height, timeRange, theme}) {
  const options = panel.options;
  const rows = rowsOf(data, options.yAxis?.unit ?? 'short');
  const all = rows.flatMap(({field}) => field.values).filter((value) => Number.isFinite(value) && value > (options.filterValues?.le ?? -Infinity));
  const low = options.color?.min ?? Math.min(...all);
  const high = options.color?.max ?? Math.max(...all);
  const [from, to] = [timeRange.from.valueOf(), timeRange.to.valueOf()];
  const left = nameWidth(rows.map((row) => row.label), width);
  const plot = width - left - 8;
  const tall = (height - AXIS - SCALE) / Math.max(1, rows.length);
  const cell = getValueFormat(options.cellValues?.unit ?? 'short');
  const every = Math.ceil(14 / tall);
  return (
    <svg width={width} height={height} role="img">
      {rows.map(({field, time, label}, index) => {
        const top = (rows.length - 1 - index) * tall;
        const wide = ((time.config.interval ?? 60000) / (to - from)) * plot;
        return (
          <g key={index}>
            {index % every === 0 && (
              <text x={left - 6} y={top + tall / 2 + 4} textAnchor="end" fontSize={11} fill={theme.colors.text.primary}>
                {label}
              </text>
            )}
            {field.values.map((value, at) => {
              const x = left + ((time.values[at] - from) / (to - from)) * plot;
              if (!Number.isFinite(value) || value <= (options.filterValues?.le ?? -Infinity) || x < left) {
                return null;
              }
              const share = high > low ? (value - low) / (high - low) : 1;
              const scaled = options.color?.mode === 'opacity' ? share ** (options.color.exponent ?? 1) : share;
              return (
                <rect key={at} x={x} y={top} width={Math.max(1, wide - 1)} height={Math.max(1, tall - 1)} fill={viridis(scaled)}>
                  <title>{`${label}: ${formattedValueToString(cell(value))}`}</title>
                </rect>
              );
            })}
          </g>
        );
      })}
      <TimeAxis from={from} to={to} left={left} width={plot} top={height - SCALE - 4} theme={theme} />
      {all.length > 0 && (
        <g fontSize={10} fill={theme.colors.text.secondary}>
          <text x={left} y={height - 3}>{formattedValueToString(cell(low))}</text>
          {Array.from({length: 40}, (_, index) => (
            <rect key={index} x={left + 60 + index * 4} y={height - 12} width={4} height={10} fill={viridis(index / 39)} />
          ))}
          <text x={left + 226} y={height - 3}>{formattedValueToString(cell(high))}</text>
        </g>
      )}
    </svg>
  );
}
